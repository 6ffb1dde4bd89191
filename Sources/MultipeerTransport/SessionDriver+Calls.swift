package import MultipeerFraming
package import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

// MARK: what the session's owner calls

extension SessionDriver {
    /// The data to hand to `recipient`, or, when nil, to whoever it is handed to. Listens from the first call on.
    package func connectionData(for recipient: UID?) async throws(SessionFault) -> ConnectionData {
        await leaving()
        try listen()
        do {
            return try introductions.connectionData(
                for: recipient, candidates: try candidates(), token: try Randomness.bytes(32),
                at: EventLoop.currentMoment())
        } catch let fault as InvalidConnectionData {
            throw .invalidData(fault)
        } catch let fault as SecurityFault {
            throw .security(fault)
        } catch let fault as SessionFault {
            throw fault
        } catch {
            throw .noAddress
        }
    }

    /// Seeks the peer of `data` and answers once it is linked; throws why not.
    package func connect(with data: ConnectionData) async throws(SessionFault) {
        await leaving()
        try listen()
        let uid = data.peer.uid
        let outcome = Signal<EndReason?>()
        let started: Bool
        names[uid] = data.peer
        do throws(Introductions.Refusal) {
            started = try introductions.connect(
                with: data, zones: linkLocalZones(), within: configuration.patience, at: EventLoop.currentMoment())
        } catch {
            throw .refused(EndReason(error))
        }
        if started { note(.sought, of: uid) }
        if roster.state(of: uid) == .connected { return }
        outcomes[uid, default: []].append(outcome)
        loop.wantsTurnEnd(self)
        let reason = await outcome.value(onCancel: { [weak self] in
            guard let self else { return }
            Task { await self.cancel(uid) }
        })
        if let reason { throw .refused(reason) }
    }

    /// Stops seeking a peer; does nothing for one that is linked.
    package func cancel(_ uid: UID) {
        introductions.cancel(uid, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }

    /// Answers true once the peer's side has received everything sent to it so far; false when its link ended first.
    package func flush(_ uid: UID) async -> Bool {
        takeFromCallers()
        guard let wire = wire(of: uid), let seat = wire.seat else { return false }
        lastMark += 1
        let (mark, signal) = (lastMark, Signal<Bool>())
        marks[mark] = (uid, signal)
        seat.link.mark(mark)
        dirty.insert(wire.id)
        return await signal.value()
    }

    /// Says goodbye to everyone behind what was sent, waits for that at most `patience`, and begins a new instance.
    package func disconnect(within patience: Duration) async {
        takeFromCallers()
        let now = EventLoop.currentMoment()
        introductions.cancelAll(at: now)
        for wire in Array(wires.values) {
            guard let seat = wire.seat else { continue }
            outlets.close(seat.peer.uid, with: EndReason(code: .left))
            seat.link.closeWhenDrained(.goodbye, at: now)  // [close.goodbye]
            dirty.insert(wire.id)
        }
        leaveDeadline = min(leaveDeadline ?? .distantFuture, now + patience)
        loop.wantsTurnEnd(self)
        carryOut()
        if wires.isEmpty { departed() }
        await leaving()
    }

    /// Waits while the session leaves: what is asked for meanwhile is for the instance behind it.
    private func leaving() async {
        while leaveDeadline != nil {
            let departure = Signal<Void>()
            departures.append(departure)
            await departure.value()
        }
    }

    /// The patience is over: whoever still holds a link is told so, and nothing more is waited for.
    func leaveNow() {
        leaveDeadline = .distantFuture
        for wire in Array(wires.values) where wire.seat != nil { endLink(wire.id, EndReason(code: .left), telling: .goodbye) }
    }

    private func renew() {
        leaveDeadline = nil
        let fresh = SessionDriver.local(peer, configuration, identity?.fingerprint, using: &randomness)
        introductions = Introductions(
            fresh, seats: configuration.seats, seed: randomness.next(), after: introductions.lastConnection)
        authentications = [:]
        for question in questions.values { question.cancel() }
        questions = [:]
    }

    /// Ends everything at once, listening too: the session's owner is gone.
    package func shutDown() {
        introductions.cancelAll(at: EventLoop.currentMoment())
        for wire in Array(wires.values) {
            if let seat = wire.seat { outlets.close(seat.peer.uid, with: EndReason(code: .left)) }
            wire.seat = nil
            close(wire)
        }
        for listener in acceptor?.listeners.values.map({ $0.socket.descriptor }) ?? [] { loop.deregister(listener) }
        acceptor = nil
        _ = introductions.takeActions()
        loop.setDeadline(self, nil)
        inbox.finish()
    }

    /// What protects the link to a peer and what it has done; nil without a link.
    package func facts(_ uid: UID) -> LinkFacts? {
        guard let wire = wire(of: uid), let seat = wire.seat else { return nil }
        return LinkFacts(
            isEncrypted: seat.isEncrypted, suite: seat.suite, authentication: seat.authentication,
            address: "\(wire.remote)", localAddress: wire.socket.localAddress.map { "\($0)" } ?? "",
            isDialled: wire.isDialled, statistics: seat.link.statistics)
    }

    package var linkedPeers: [PeerID] { wires.values.compactMap { $0.seat?.peer } }

    private func wire(of uid: UID) -> Wire? { wires.values.first { $0.seat?.peer.uid == uid } }
}

// MARK: what callers wait for

extension SessionDriver {
    func settleOutcome(of uid: UID, _ state: PeerState) {
        switch state {
        case .connecting: return
        case .connected: for outcome in outcomes.removeValue(forKey: uid) ?? [] { outcome.send(nil) }
        case .notConnected(let reason):
            for outcome in outcomes.removeValue(forKey: uid) ?? [] { outcome.send(reason) }
            for (mark, waiting) in marks where waiting.uid == uid {
                waiting.signal.send(false)
                marks[mark] = nil
            }
        }
    }

    func reached(_ mark: UInt64) { marks.removeValue(forKey: mark)?.signal.send(true) }

    /// No connection is left. The new instance begins before anything else can happen.
    func departed() {
        if leaveDeadline != nil { renew() }
        for departure in departures { departure.send(()) }
        departures = []
    }
}

// MARK: where others can reach us

extension SessionDriver {
    func listen() throws(SessionFault) {
        guard acceptor == nil else { return }
        do throws(SocketFault) {
            let fresh = try Acceptor(configuration.listening)
            for (token, listener) in fresh.listeners {
                try loop.register(
                    listener.socket.descriptor, for: self, token: token, interest: .readable)
            }
            acceptor = fresh
        } catch {
            throw .network(error)
        }
    }

    private func candidates() throws(SessionFault) -> [Candidate] {
        let listening = acceptor?.addresses() ?? []
        let addresses = configuration.advertised.isEmpty ? listening : configuration.advertised
        let candidates = Array(addresses.compactMap { Candidate($0) }.prefix(Limits.candidates))
        guard !candidates.isEmpty else { throw .noAddress }
        return configuration.advertising?(candidates) ?? candidates
    }

    private func linkLocalZones() -> [UInt32] {
        ((try? NetworkInterface.all()) ?? []).filter { $0.isUp && !$0.isLoopback }.map(\.index)
    }
}
