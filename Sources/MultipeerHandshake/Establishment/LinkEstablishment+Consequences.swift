package import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

// MARK: consequences

extension LinkEstablishment {
    /// Returns whether there is room for a link to `uid`: links to other peers count, and so does each SELECT sent to
    /// one.
    package func hasLinkCapacity(besides uid: UID) -> Bool {
        let taken = attempts.count {
            $0.key != uid && ($0.value.isLinked || $0.value.selection.nominated != nil)
        }
        return taken < maximumLinks  // [limit.links]
    }

    /// Returns the peer expected under this uid, with the data that we issued and that have not expired. [data.expiry]
    func lookUpExpectedPeer(_ uid: UID, at now: Moment) -> ExpectedPeer? {
        (attempts[uid]?.expectedPeer ?? declined.peer(uid, at: now)).map {
            ExpectedPeer(
                data: $0.data, issued: issued(to: $0.data, at: now), outcome: $0.outcome,
                isDeclined: $0.isDeclined)
        }
    }

    /// Returns our data that the peer of `data` may hold, most likely first.
    func issued(to data: ConnectionData, at now: Moment) -> [ConnectionData] {
        issuer.issued(
            for: data.peer.uid, asMember: data.flags.contains(.mesh) && data.recipient == nil, at: now)
    }

    mutating func dialWhatIsDue(_ uid: UID, at now: Moment) {
        while isDialAllowed(uid, at: now), let candidate = attempts[uid]?.plan.due(at: now),
            let known = lookUpExpectedPeer(uid, at: now)
        {
            let introducer = attempts[uid]?.introducer
            if let introducer {  // [mesh.introduced]
                guard !connections.awaitsAnswer(of: candidate), introducedDials.mayDial(candidate, at: now)
                else {
                    let factor = jitter.factor()
                    attempts[uid]?.plan.skipped(at: now, jitter: factor)
                    continue
                }
                introducedDials.count(by: introducer, at: now)
            }
            let handshake = Handshake(
                .initiator, for: known, guess: attempts[uid]?.misses ?? 0, local: local,
                at: now)
            let id = connections.add(
                handshake, dialled: candidate, isIntroduced: introducer != nil, besides: links)
            attempts[uid]?.plan.began(id)
            actions.append(.dial(id, candidate, accepting: known.pin))
        }
    }

    /// Returns whether the next dial that is due may be made now; postpones it if it may not. [mesh.introduced]
    private mutating func isDialAllowed(_ uid: UID, at now: Moment) -> Bool {
        guard let attempt = attempts[uid], let due = attempt.plan.deadline, due <= now,
            let introducer = attempt.introducer
        else { return true }
        let next = introducedDials.next(by: introducer, at: now)
        guard now < next else { return true }
        attempts[uid]?.plan.postpone(until: next)
        return false
    }

    /// Notes that a dial for an introduction got no answer below HELLO. [mesh.introduced]
    mutating func noteSilence(of connection: HandshakeTable.Entry, at now: Moment) {
        guard connection.isIntroduced, let address = connection.address,
            connection.handshake.phase == .securing
        else { return }
        introducedDials.failed(address, at: now)
    }

    mutating func resumeDialling(_ uid: UID, at now: Moment) {
        guard let attempt = attempts[uid] else { return }
        attempts[uid]?.plan.pause(attempt.selection.isUndecided || !attempt.parked.isEmpty)
        dialWhatIsDue(uid, at: now)
    }

    /// Passes an input to the handshake of one connection, and carries out what follows.
    mutating func step(
        _ id: ConnectionID, at now: Moment, _ input: (inout Handshake) -> [Handshake.Action]
    ) {
        guard var connection = connections[id] else { return }
        let follow = input(&connection.handshake)
        connections[id] = connection
        for action in follow {
            switch action {
            case .send(let frame): actions.append(.send(id, frame))
            case .decide: ask(id, at: now)
            case .candidate: verified(id, at: now)
            case .met:
                if let peer = connection.handshake.expectedPeer { actions.append(.met(peer.endpoint)) }
                if let uid = connection.uid { attempts[uid]?.introducer = nil }
                if let address = connection.address { introducedDials.answered(address, at: now) }
            case .close(let code): refused(id, code, at: now)
            }
        }
    }

    mutating func helloArrived(_ id: ConnectionID, _ payload: Span<UInt8>, at now: Moment) {
        let (meshSnapshot, grease) = (meshSnapshot, jitter.next())
        guard var handshake = connections[id]?.handshake else { return }
        // Only what the HELLO names is looked up: no one has proven anything yet.
        let follow = handshake.greeted(
            payload, meshSnapshot: meshSnapshot, grease: grease, at: now,
            lookUp: { lookUpExpectedPeer($0, at: now) })
        step(id, at: now) {
            $0 = handshake
            return follow
        }
    }

    mutating func ask(_ id: ConnectionID, at now: Moment) {
        guard let uid = connections[id]?.uid, let attempt = attempts[uid] else { return }
        switch attempt.trust {
        case .trusted: step(id, at: now) { $0.decided(true) }
        case .asked: break  // [trust.once]
        case .unasked:
            attempts[uid]?.trust = .asked(id, since: now)
            actions.append(.ask(uid, id))
        }
    }

    mutating func verified(_ id: ConnectionID, at now: Moment) {
        guard let connection = connections[id], let uid = connection.uid,
            let attempt = attempts[uid]
        else {
            return
        }
        if unread.contains(uid) { return refused(id, .busy, at: now) }  // [limit.relink]
        connections.expectSelection(id, at: now)
        if attempt.former != nil, let link = attempt.selection.link {  // [stale.busy]
            attempts[uid]?.parked.append(.init(connection: id, isSelected: false))
            attempts[uid]?.plan.pause(true)
            if attempt.probeDeadline == nil { probe(link, of: uid, at: now) }
            return
        }
        let isSettled = attempt.isSettled(at: now)
        select(for: uid, at: now) { $0.verified(id, hasLinkCapacity: $1, linkIsSettled: isSettled) }
        attempts[uid]?.plan.pause(true)
    }

    mutating func selectArrived(_ id: ConnectionID, at now: Moment) {
        guard let connection = connections[id], connection.handshake.phase == .candidate,
            let uid = connection.uid
        else {
            return step(id, at: now) { $0.end(.protocolError) }
        }
        if unread.contains(uid) { return refused(id, .busy, at: now) }  // [limit.relink]
        if let place = attempts[uid]?.parked.firstIndex(where: { $0.connection == id }) {
            attempts[uid]?.parked[place].isSelected = true
            return
        }
        select(for: uid, at: now) { $0.selectArrived(on: id, hasLinkCapacity: $1) }
        // The timeout of SELECTED starts with SELECT. [link.timeouts]
        if attempts[uid]?.selection.waiting == id { connections.expectSelection(id, at: now) }
    }

    mutating func selectedArrived(_ id: ConnectionID, at now: Moment) {
        guard let connection = connections[id], connection.handshake.phase == .candidate,
            let uid = connection.uid
        else {
            return step(id, at: now) { $0.end(.protocolError) }
        }
        select(for: uid, at: now) { selection, _ in selection.selectedArrived(on: id) }
    }

    mutating func closeArrived(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        guard let connection = connections.remove(id) else { return }
        actions.append(.close(id, .ok))
        if code == .full, connection.handshake.knowsItsPeer, let peer = connection.handshake.expectedPeer {
            actions.append(.met(peer.endpoint))  // [mesh.counted]
        }
        guard let uid = connection.uid, let attempt = attempts[uid] else { return }
        if code.known.endsAttempt, attempt.isConnecting {
            return fail(uid, .refusedByPeer(code), telling: .cancelled)
        }
        if code == .unknownPeer { missed(id, connection, of: uid, at: now) }
        attempts[uid]?.note(.closed(code))
        settle(id, of: uid, at: now)
    }

    /// Handles a peer that holds none of our data, or other data than we named: the next data are named at once, each
    /// in every round. [link.unknown-data]
    private mutating func missed(
        _ id: ConnectionID, _ connection: HandshakeTable.Entry, of uid: UID, at now: Moment
    ) {
        guard connection.isDialled, connection.handshake.phase == .greeting else { return }
        // Of several connections that named the same data, one counts.
        if attempts[uid]?.misses == connection.handshake.guess { attempts[uid]?.misses += 1 }
        let versions = lookUpExpectedPeer(uid, at: now)?.issued.count ?? 1
        attempts[uid]?.plan.repeats(id, limit: versions - 1)
    }

    /// Handles a connection that we ended with this code.
    mutating func refused(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        guard let connection = connections[id] else { return }
        drop(id, code)
        guard let uid = connection.uid, let attempt = attempts[uid] else { return }
        if [.version, .rejected, .full].contains(code), attempt.isConnecting {
            return fail(uid, .refused(code), telling: code)
        }
        attempts[uid]?.note(.refused(code))
        settle(id, of: uid, at: now)
    }

    /// Continues what waited for a connection of this peer that has ended.
    mutating func settle(_ id: ConnectionID, of uid: UID, at now: Moment) {
        attempts[uid]?.parked.removeAll { $0.connection == id }
        let factor = jitter.factor()
        attempts[uid]?.plan.ended(id, at: now, jitter: factor)
        select(for: uid, at: now) { $0.died(id, hasLinkCapacity: $1) }
        guard let attempt = attempts[uid], attempt.isConnecting else { return }
        if attempt.isWithdrawn, attempt.selection.nominated == nil {
            return fail(uid, .withdrawn, telling: .unknownPeer)  // [mesh.withdraw]
        }
        resumeDialling(uid, at: now)
    }

    mutating func select(
        for uid: UID, at now: Moment,
        _ input: (inout Selection, _ hasLinkCapacity: Bool) -> [Selection.Action]
    ) {
        let hasLinkCapacity = hasLinkCapacity(besides: uid)
        guard var attempt = attempts[uid] else { return }
        let follow = input(&attempt.selection, hasLinkCapacity)
        attempts[uid] = attempt
        carryOut(follow, of: uid, at: now)
    }

    mutating func carryOut(_ follow: [Selection.Action], of uid: UID, at now: Moment) {
        for action in follow {
            switch action {
            case .select(let id):
                connections.expectSelection(id, at: now)
                actions.append(.send(id, Frame.select.bytes))
            case .selected(let id): actions.append(.send(id, Frame.selected.bytes))
            case .linked(let id): link(id, of: uid, at: now)
            case .superseded(let id): actions.append(.supersede(id))
            case .probe(let id): probe(id, of: uid, at: now)
            case .duplicate(let id): drop(id, .duplicate)
            case .outOfTurn(let id): refused(id, .protocolError, at: now)
            case .full(let id):
                drop(id, .full)
                fail(uid, .refused(.full), telling: .full)
            }
        }
    }

    mutating func link(_ id: ConnectionID, of uid: UID, at now: Moment) {
        guard let connection = connections.remove(id), let remote = connection.handshake.remote,
            let data = connection.handshake.expectedPeer?.data
        else { return }
        attempts[uid]?.becomeLink(to: remote.sender, at: now)
        attempts[uid]?.probeTime = connection.handshake.timer.limit(atLeast: HandshakeTiming.probe)
        actions.append(
            .link(id, data, remote: remote.limits, isMesh: connection.handshake.makesMesh))
        for other in connections.ids(of: uid) where connections[other]?.isDialled == true {
            if connections[other]?.handshake.phase != .candidate { drop(other, .duplicate) }
        }
    }

    mutating func probe(
        _ link: ConnectionID, of uid: UID, within grace: Duration = .zero, at now: Moment
    ) {
        guard let answer = attempts[uid]?.probeTime else { return }
        attempts[uid]?.probeDeadline = now + max(grace, answer)
        actions.append(.probe(link))
    }

    /// Ends a link that did not respond in time, and continues what waited for that.
    mutating func probeUnanswered(_ uid: UID, at now: Moment) {
        guard var attempt = attempts[uid], let link = attempt.selection.link else { return }
        if attempt.selection.waiting != nil {
            attempt.probeDeadline = nil
            // The waiting candidate begins another attempt, which goes on if its link is not used. [state.unused]
            attempt.deadline = max(attempt.deadline, now + HandshakeTiming.attempt)
            attempts[uid] = attempt
            return select(for: uid, at: now) { selection, _ in selection.supersede() }
        }
        let isAwaited = attempt.selection.hasRivals || attempt.former != nil
        guard isAwaited else {
            actions.append(.unanswered(link))
            return forget(uid, telling: .duplicate)
        }
        if attempt.former == nil {
            // The attempt that made the link is long over; the waiting candidate begins another.
            attempt.deadline = now + HandshakeTiming.attempt
            attempt.isCallback = true
            attempt.plan.restart(at: now, jitter: jitter.factor())
        }
        attempts[uid] = attempt
        actions += [.unanswered(link), .connect(uid)]
        unlink(link, of: uid, at: now)  // [stale.probe]
    }

    /// Handles the loss of a link to a peer that is still expected: dialling continues, and so do candidates that
    /// waited for the link's place.
    mutating func unlink(_ link: ConnectionID, of uid: UID, at now: Moment) {
        guard let parked = attempts[uid]?.loseLink() else { return }
        select(for: uid, at: now) { $0.died(link, hasLinkCapacity: $1) }
        for waiting in parked {
            verified(waiting.connection, at: now)
            if waiting.isSelected { selectArrived(waiting.connection, at: now) }
        }
        if attempts[uid]?.isConnecting == true { resumeDialling(uid, at: now) }
    }

    mutating func drop(_ id: ConnectionID, _ code: CloseCode) {
        guard connections.remove(id) != nil else { return }
        actions.append(.close(id, code))
    }

    /// Ends the attempt. A link to the peer's old instance, if any, is kept. [state.outcome]
    mutating func fail(_ uid: UID, _ failure: LinkAttemptFailure, telling code: CloseCode) {
        let known = attempts[uid]
        forget(uid, telling: code)
        if let known, let former = known.former { attempts[uid] = known.withdrawn(to: former) }
        actions.append(.fail(uid, failure))
    }

    mutating func forget(_ uid: UID, telling code: CloseCode) {
        for id in connections.ids(of: uid) { drop(id, code) }
        attempts[uid] = nil
    }
}

extension CloseCode {
    /// Whether a further attempt would end the same way. Spec 6.1.
    fileprivate var endsAttempt: Bool {
        [.policy, .rejected, .itself, .version, .full, .cancelled, .goodbye].contains(self)
    }
}
