import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the machines decided

extension SessionDriver {
    /// Carries out what was decided, in order, until nothing more is wanted.
    func carryOut() {
        while true {
            let actions = mesh.takeActions()
            if actions.isEmpty { return }
            for action in actions { carryOut(action) }
        }
    }

    private func carryOut(_ action: Mesh.Action) {
        switch action {
        case .dial(let id, let candidate, let accepting): dial(id, candidate, accepting: accepting)
        case .send(let id, let frame): send(frame, on: id)
        case .close(let id, let code): part(id, code)
        case .ask(let uid, let id): ask(uid, about: id)
        case .link(let id, let data, let remote, let isMesh): link(id, data, remote, isMesh: isMesh)
        case .end(let id, let reason, let code): endLink(id, reason, telling: code)
        case .probe(let id):
            wires[id]?.seat?.link.probe()
            dirty.insert(id)
        case .tell(let id, let entry):
            wires[id]?.seat?.link.say(.members(entry))
            dirty.insert(id)
        case .state(let peer, let state):
            pending.append(.peer(peer, state))
            noteState(of: peer.uid)
            if case .notConnected(let reason) = state, reason.code == .lost || reason.code == .timedOut {
                Losses.shared.report(peer.uid)
            }
            forget(peer.uid)
        case .settled(let uid, let reason):
            if reason != nil { questions.removeValue(forKey: uid)?.cancel() }
            settleOutcomes(of: uid, reason)
        case .leave: giveWay()
        case .renew: renewMeshData()
        }
    }

    private func send(_ frame: [UInt8], on id: ConnectionID) {
        wires[id]?.frames.append(frame)
        dirty.insert(id)
    }

    /// Tells the code when frames can be told, flushes, and ends the connection. [close.linger]
    private func part(_ id: ConnectionID, _ code: CloseCode) {
        guard let wire = wires[id], !wire.isParting else { return }
        guard wire.phase == .framed else { return close(wire) }
        if code != .ok { Frame.close(code, reason: "").encode(into: &wire.frames) }  // [close.linger]
        linger(wire)
    }

    /// What waits is written, our side is ended, and the other side's end is waited for: one second at the most. Closing
    /// at once would take back what the peer has not read yet.
    private func linger(_ wire: Wire) {
        wire.phase = .parting(until: loop.now + SessionDriver.linger)
        dirty.insert(wire.id)
    }

    // MARK: links

    private func link(_ id: ConnectionID, _ data: ConnectionData, _ remote: LinkLimits, isMesh: Bool) {
        let uid = data.peer.uid
        guard let wire = wires[id] else {
            return mesh.linkEnded(id, of: uid, EndReason(code: .lost), wasUsed: false, at: loop.now)
        }
        let limits = mesh.local.limits
        var link = Link(
            Link.Configuration(
                local: limits, remote: remote,
                timing: Liveness.Timing(silence: configuration.silence, death: configuration.death),
                greaseKind: Grease.frameKind(randomness.next()), isMesh: isMesh), now: loop.now)
        link.hasTurn = false
        let outlet = outlets.open(
            uid, longestMessage: Int(clamping: remote.maxMessage),
            waking: { [errands] in errands.add(.messages(id)) })
        wire.seat = Seat(
            data, link: link, outlet: outlet, suite: wire.channel?.suite,
            authentication: authentications[uid] ?? (wire.channel?.suite == nil ? .tokens : .connectionData))
        wire.socket.setUserTimeout(configuration.death)  // [live.backstop]
        acceptor?.ended(id)
        if isMesh { mesh.zones = linkLocalZones() }
        dirty.insert(id)
        if let seat = wire.seat { openDatagrams(wire, seat, data) }
        guest?.linkMade(to: data.peer)
    }

    /// Takes what a link has ready: messages first, then channels, then what is rare, then its end. `detail` says more of a loss.
    func collect(_ wire: Wire, _ seat: Seat, detail: String = "") {
        dirty.insert(wire.id)
        collectMessages(wire, seat)
        collectChannels(wire, seat)
        while let event = seat.link.nextEvent() {
            switch event {
            case .markReached(let mark): reached(mark)
            case .probeAnswered: mesh.probeAnswered(by: seat.peer.uid, at: loop.now)
            case .datagramOffered(let offer): datagramsOffered(offer, wire, seat)
            case .code(let frame): verify(frame, wire, seat)
            case .members(let entry): membersArrived(entry, wire, seat)
            case .roundTrip: break
            }
        }
        guard wire.seat === seat else { return }
        giveTurn(wire, seat)
        guard let end = seat.link.end else { return }
        ended(wire, seat, end == .lost ? EndReason(code: .lost, detail: detail) : EndReason(end))
    }

    private func membersArrived(_ entry: Members, _ wire: Wire, _ seat: Seat) {
        if let violation = mesh.membersArrived(entry, on: wire.id, at: loop.now) {
            seat.link.violated(violation)
        }
    }

    func endLink(_ id: ConnectionID, _ reason: EndReason, telling code: CloseCode) {
        guard let wire = wires[id], let seat = wire.seat else { return }
        seat.link.close(code, at: loop.now)
        collectMessages(wire, seat)
        collectChannels(wire, seat)
        ended(wire, seat, reason)
    }

    /// Ends a connection at once, and without a word.
    func abandon(_ wire: Wire) {
        close(wire)
        if let seat = wire.seat { ended(wire, seat, EndReason(code: .left)) }
    }

    private func collectMessages(_ wire: Wire, _ seat: Seat) {
        let key = Int(wire.id.rawValue)
        let messages = seat.link.takeMessages()
        if let guestMark, !messages.isEmpty { return sort(messages, wire, seat, by: guestMark) }
        for message in messages {
            pending.append(.message(Message(peer: seat.peer, message)), key: key, cost: message.cost)
        }
    }

    private func ended(_ wire: Wire, _ seat: Seat, _ reason: EndReason) {
        guard wire.seat === seat else { return }
        let uid = seat.peer.uid
        // The CLOSE, if one is due.
        _ = seat.link.fill(&wire.frames, upTo: SessionDriver.sealing, now: loop.now)
        wire.seat = nil
        let untaken = outlets.close(uid, with: reason)
        let undelivered = Undelivered(  // [msg.failed]
            messages: seat.link.queuedMessages + untaken.count,
            bytes: untaken.reduce(seat.link.queuedBytes) { $0 + $1.count })
        let statistics = seat.link.statistics
        // A peer that waits for SELECTED answers PING too, and says TIMEOUT in the end.
        let hasAnswered = statistics.roundTrip != nil && reason.closeCode != .timeout
        let wasUsed = statistics.messagesReceived > 0 || seat.hasHeardOfChannels || hasAnswered
        failChannels(seat, reason)
        closeDatagrams(seat)
        takeTurn(from: wire.id)
        part(wire.id, .ok)
        settleMarks(of: uid)
        seat.verification?.settle(.failure(.ended(reason)))
        var whole = reason
        whole.undelivered = undelivered
        guest?.linkEnded(to: seat.peer, whole)
        mesh.linkEnded(wire.id, of: uid, whole, wasUsed: wasUsed, at: loop.now)
    }

    /// The connection ended below the frames.
    func lost(_ wire: Wire, _ setback: Setback) {
        guard wires[wire.id] === wire else { return }
        if case .security = setback, wire.channel != nil, !wire.isParting {
            wire.frames.removeAll()  // the alert is all that can still be said
            linger(wire)
        } else {
            close(wire)
        }
        if let seat = wire.seat {
            seat.link.lost()  // [tls.truncation]
            collect(wire, seat, detail: setback.detail)
        } else {
            mesh.lost(wire.id, setback, at: loop.now)
        }
        carryOut()
    }

    /// Gives the socket back to the system.
    func close(_ wire: Wire) {
        guard wires.removeValue(forKey: wire.id) != nil else { return }
        dirty.remove(wire.id)
        loop.deregister(wire.socket.descriptor)
        acceptor?.ended(wire.id)
        wire.channel = nil
    }

    /// What is known of a peer is kept while it is sought or linked, so that nothing grows with the peers there were.
    private func forget(_ uid: UID) {
        if mesh.state(of: uid) == .notConnected, !mesh.awaits(uid) { authentications[uid] = nil }
    }
}
