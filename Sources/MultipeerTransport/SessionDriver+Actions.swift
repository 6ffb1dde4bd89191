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
        case .probe(let id): wires[id]?.seat?.link.probe()
        case .seek(let uid): note(.sought, of: uid)
        case .fail(let uid, let failure):
            questions.removeValue(forKey: uid)?.cancel()
            note(.abandoned(EndReason(failure)), of: uid)
        }
    }

    private func send(_ frame: [UInt8], on id: ConnectionID) {
        wires[id]?.frames.append(frame)
        dirty.insert(id)
    }

    /// Tells the code when frames can be told, flushes, and ends the connection. [close.linger]
    private func part(_ id: ConnectionID, _ code: CloseCode) {
        guard let wire = wires[id] else { return }
        guard wire.phase == .framed else { return close(wire) }
        if code != .ok { Frame.close(code, reason: "").encode(into: &wire.frames) }  // [close.linger]
        wire.phase = .parting(until: loop.now + SessionDriver.linger)
        dirty.insert(id)
    }

    // MARK: links

    private func link(_ id: ConnectionID, _ data: ConnectionData, _ remote: LinkLimits) {
        guard let wire = wires[id] else { return }
        let uid = data.peer.uid
        let limits = introductions.local.limits
        let link = Link(
            Link.Configuration(
                local: limits, remote: remote, timing: Liveness.Timing(silence: configuration.silence, death: configuration.death),
                greaseKind: Grease.frameKind(randomness.next())), now: loop.now)
        let outlet = outlets.open(
            uid, longestMessage: Int(clamping: remote.maxMessage), waking: loop.waker(for: self))
        wire.seat = Seat(
            data, link: link, outlet: outlet, suite: wire.channel?.suite,
            authentication: authentications[uid] ?? (wire.accepting == nil ? .tokens : .connectionData))
        names[uid] = data.peer
        acceptor?.ended(id)  // no stranger any more
        dirty.insert(id)
        note(.linked, of: uid)
    }

    /// Takes what a link has ready: messages first, then what is rare, then its end.
    func collect(_ wire: Wire, _ seat: Seat) {
        dirty.insert(wire.id)
        collectMessages(wire, seat)
        while let event = seat.link.nextEvent() {
            switch event {
            case .markReached(let mark): reached(mark)
            case .probeAnswered: introductions.probeAnswered(by: seat.peer.uid, at: loop.now)
            case .roundTrip: break
            }
        }
        if let end = seat.link.end { ended(wire, seat, EndReason(end)) }
    }

    func endLink(_ id: ConnectionID, _ reason: EndReason, telling code: CloseCode) {
        guard let wire = wires[id], let seat = wire.seat else { return }
        seat.link.close(code, at: loop.now)
        collectMessages(wire, seat)
        ended(wire, seat, reason)
    }

    private func collectMessages(_ wire: Wire, _ seat: Seat) {
        let key = Int(wire.id.rawValue)
        for message in seat.link.takeMessages() {
            pending.append(.message(Message(peer: seat.peer, message)), key: key, cost: message.cost)
        }
    }

    private func ended(_ wire: Wire, _ seat: Seat, _ reason: EndReason) {
        let uid = seat.peer.uid
        _ = seat.link.fill(&wire.frames, upTo: SessionDriver.sealing, now: loop.now)  // the CLOSE, if one is due
        wire.seat = nil
        outlets.close(uid, with: reason)
        let statistics = seat.link.statistics
        let unused = reason.code == .lost && statistics.messagesReceived == 0 && statistics.roundTrip == nil
        if wires[wire.id] === wire { part(wire.id, .ok) }
        note(reason.code == .superseded ? .superseded : .linkEnded(reason), of: uid)
        introductions.linkEnded(wire.id, of: uid, mayResume: unused, at: loop.now)
    }

    /// The connection ended below the frames.
    func lost(_ wire: Wire, _ setback: Setback) {
        guard wires[wire.id] === wire else { return }
        if let seat = wire.seat {
            seat.link.lost()  // [tls.truncation]
            close(wire)
            collect(wire, seat)
        } else {
            if case .security = setback { sendAlert(wire) }
            close(wire)
            introductions.lost(wire.id, setback, at: loop.now)
        }
        carryOut()
    }

    /// TLS has something to say about why it failed; one try is enough.
    private func sendAlert(_ wire: Wire) {
        wire.channel?.withOutput { bytes in
            if case .sent(let count) = wire.socket.send(bytes) { return count }
            return 0
        }
    }

    /// Gives the socket back to the system.
    func close(_ wire: Wire) {
        guard wires.removeValue(forKey: wire.id) != nil else { return }
        dirty.remove(wire.id)
        loop.deregister(wire.socket.descriptor)
        acceptor?.ended(wire.id)
        wire.channel = nil
        if wires.isEmpty { departed() }
    }

    // MARK: states

    func note(_ event: Roster.Event, of uid: UID) {
        for transition in roster.handle(event, of: uid) {
            guard let peer = names[uid] else { continue }
            pending.append(.peer(peer, transition.state))
            settleOutcome(of: uid, transition.state)
        }
    }
}

// MARK: dialling and accepting

extension SessionDriver {
    private func dial(_ id: ConnectionID, _ candidate: Candidate, accepting: Fingerprint?) {
        guard let address = SocketAddress(candidate) else {
            return introductions.lost(id, .unreachable("not an address"), at: loop.now)
        }
        do throws(SocketFault) {
            let wire = Wire(
                id, try Socket.connecting(to: address), to: address, dialled: true, accepting: accepting)
            try loop.register(wire.socket.descriptor, for: self, token: Int(id.rawValue), interest: .writable)
            wires[id] = wire
        } catch {
            introductions.lost(id, .unreachable("\(address): \(error)"), at: loop.now)
        }
    }

    func finishDialling(_ wire: Wire) {
        if let fault = wire.socket.connectionResult() {
            return lost(wire, .unreachable("\(wire.remote): \(fault)"))
        }
        do throws(SecurityFault) {
            if let accepting = wire.accepting, let tls {
                wire.channel = try SecureChannel.tls(tls, role: .client, accepting: [accepting])
            } else {
                wire.channel = SecureChannel.plain()
            }
            wire.phase = .securing
            want(.readable, of: wire)
            _ = try wire.channel?.handshake()
            dirty.insert(wire.id)
            loop.wantsTurnEnd(self)
        } catch {
            lost(wire, .security(error))
        }
    }

    /// A listener has connections waiting: at most 64 a turn.
    func accept(from token: Int) {
        guard let listener = acceptor?.listeners[token] else { return }
        for _ in 0..<64 {
            switch listener.socket.accept() {
            case .socket(let socket, from: let remote): admit(socket, from: remote)
            case .aborted: continue
            case .wouldBlock: return
            case .exhausted: return pauseAccepting()
            case .failed: return pauseAccepting()
            }
        }
    }

    private func admit(_ socket: consuming Socket, from remote: SocketAddress) {
        guard leaveDeadline == nil else { return }
        let id = introductions.accepted(at: loop.now)
        let wire = Wire(id, socket, to: remote, dialled: false, accepting: nil)
        do throws(SocketFault) {
            try loop.register(wire.socket.descriptor, for: self, token: Int(id.rawValue), interest: .readable)
            wires[id] = wire
        } catch {
            introductions.lost(id, .unreachable("\(error)"), at: loop.now)
        }
        for stranger in acceptor?.admit(id, from: remote.host) ?? [] {  // [limit.unauthenticated]
            guard let wire = wires[stranger] else { continue }
            close(wire)
            introductions.lost(stranger, .lost, at: loop.now)
        }
    }

    /// Out of descriptors: strangers wait in the backlog for a while, and the loop does not spin over them.
    private func pauseAccepting() {
        for listener in acceptor?.listeners.values.map({ $0.socket.descriptor }) ?? [] { loop.deregister(listener) }
        acceptResumes = loop.now + .milliseconds(250)
    }

    func resumeAccepting() {
        acceptResumes = nil
        for (token, listener) in acceptor?.listeners ?? [:] {
            do throws(SocketFault) {
                try loop.register(listener.socket.descriptor, for: self, token: token, interest: .readable)
            } catch {
                acceptResumes = loop.now + .milliseconds(250)
            }
        }
    }
}
