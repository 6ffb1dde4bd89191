import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

// MARK: what the machines decided

extension SessionDriver {
    /// Carries out what the introductions decided, in order, until they want nothing more.
    func carryOut() {
        while true {
            let actions = introductions.takeActions()
            if actions.isEmpty { return }
            for action in actions { carryOut(action) }
        }
    }

    private func carryOut(_ action: Introductions.Action) {
        switch action {
        case .dial(let id, let candidate, let accepting): dial(id, candidate, accepting: accepting)
        case .send(let id, let frame): send(frame, on: id)
        case .close(let id, let code): part(id, code)
        case .ask(let uid, let id): ask(uid, about: id)
        case .link(let id, let data, let remote): link(id, data, remote)
        case .supersede(let id): endLink(id, EndReason(code: .superseded), telling: .duplicate)
        case .unanswered(let id): endLink(id, EndReason(code: .timedOut), telling: .timeout)
        case .probe(let id):
            wires[id]?.seat?.link.probe()
            dirty.insert(id)
        case .seek(let uid): note(.sought, of: uid)
        case .fail(let uid, let failure):
            questions.removeValue(forKey: uid)?.cancel()
            note(.abandoned(EndReason(failure)), of: uid)
            settleOutcomes(of: uid, EndReason(failure))
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

    private func link(_ id: ConnectionID, _ data: ConnectionData, _ remote: LinkLimits) {
        let uid = data.peer.uid
        guard let wire = wires[id] else {
            return introductions.linkEnded(id, of: uid, mayResume: true, at: loop.now)
        }
        let limits = introductions.local.limits
        var link = Link(
            Link.Configuration(
                local: limits, remote: remote,
                timing: Liveness.Timing(silence: configuration.silence, death: configuration.death),
                greaseKind: Grease.frameKind(randomness.next())), now: loop.now)
        link.hasTurn = false
        let outlet = outlets.open(
            uid, longestMessage: Int(clamping: remote.maxMessage),
            waking: { [errands] in errands.add(.messages(id)) })
        wire.seat = Seat(
            data, link: link, outlet: outlet, suite: wire.channel?.suite,
            authentication: authentications[uid] ?? (wire.channel?.suite == nil ? .tokens : .connectionData))
        names[uid] = data.peer
        acceptor?.ended(id)
        dirty.insert(id)
        if let seat = wire.seat { openDatagrams(wire, seat, data) }
        note(.linked, of: uid)
        settleOutcomes(of: uid, nil)
    }

    /// Takes what a link has ready: messages first, then channels, then what is rare, then its end. `detail` says more of a loss.
    func collect(_ wire: Wire, _ seat: Seat, detail: String = "") {
        dirty.insert(wire.id)
        collectMessages(wire, seat)
        collectChannels(wire, seat)
        while let event = seat.link.nextEvent() {
            switch event {
            case .markReached(let mark): reached(mark)
            case .probeAnswered: introductions.probeAnswered(by: seat.peer.uid, at: loop.now)
            case .datagramOffered(let offer): datagramsOffered(offer, wire, seat)
            case .code(let frame): verify(frame, wire, seat)
            case .roundTrip: break
            }
        }
        guard wire.seat === seat else { return }
        giveTurn(wire, seat)
        guard let end = seat.link.end else { return }
        ended(wire, seat, end == .lost ? EndReason(code: .lost, detail: detail) : EndReason(end))
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
        for message in seat.link.takeMessages() {
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
        let unused =
            reason.code == .lost && statistics.messagesReceived == 0 && statistics.roundTrip == nil
            && !seat.hasHeardOfChannels
        failChannels(seat, reason)
        closeDatagrams(seat)
        takeTurn(from: wire.id)
        part(wire.id, .ok)
        settleMarks(of: uid)
        seat.verification?.settle(.failure(.ended(reason)))
        introductions.linkEnded(wire.id, of: uid, mayResume: unused, at: loop.now)
        note(
            reason.code == .superseded ? .superseded : .linkEnded(reason), of: uid, undelivered: undelivered)
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
            introductions.lost(wire.id, setback, at: loop.now)
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

    // MARK: states

    func note(_ event: Roster.Event, of uid: UID, undelivered: Undelivered = Undelivered()) {
        for transition in roster.handle(event, of: uid) {
            guard let peer = names[uid] else { continue }
            pending.append(.peer(peer, transition.state.with(undelivered)))
        }
        // What is known of a peer is kept while it is sought or linked, so that nothing grows with the peers there were.
        guard roster.state(of: uid) == .notConnected, !introductions.awaits(uid) else { return }
        names[uid] = nil
        authentications[uid] = nil
    }
}

extension PeerState {
    fileprivate func with(_ undelivered: Undelivered) -> PeerState {
        guard case .notConnected(var reason) = self else { return self }
        reason.undelivered = undelivered
        return .notConnected(reason)
    }
}

extension Setback {
    fileprivate var detail: String {
        switch self {
        case .unreachable(let problem): problem
        case .security(let fault): "\(fault)"
        case .lost, .closed, .refused: ""
        }
    }
}
