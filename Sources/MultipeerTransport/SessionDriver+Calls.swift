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
        let candidates = try candidates()
        var token = try SessionFault.security { () throws(SecurityFault) in try Randomness.bytes(32) }
        defer { token.erase() }  // [secret.erase]
        do throws(InvalidConnectionData) {
            return try introductions.connectionData(
                for: recipient, candidates: candidates, flags: configuration.datagrams ? .datagrams : [],
                token: token, at: EventLoop.currentMoment())
        } catch {
            throw .invalidData(error)
        }
    }

    /// Seeks the peer of `data` and answers once it is linked; throws why not.
    package func connect(with data: ConnectionData) async throws(SessionFault) {
        await leaving()
        try listen()
        let uid = data.peer.uid
        do throws(Introductions.Refusal) {
            let hasStarted = try introductions.connect(
                with: data, zones: linkLocalZones(for: data), within: configuration.patience,
                at: EventLoop.currentMoment())
            if hasStarted {
                names[uid] = data.peer
                note(.sought, of: uid)
            }
        } catch {
            throw .refused(EndReason(error))
        }
        if introductions.isLinked(to: data.endpoint) { return }
        // It is sought now, by this call or by one before, so there will be an outcome.
        let outcome = Signal<EndReason?>()
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
        guard let wire = wire(of: uid), let seat = wire.seat else { return false }
        takeMessages(of: wire.id)
        lastMark += 1
        let (mark, signal) = (lastMark, Signal<Bool>())
        marks[mark] = (uid, signal)
        seat.link.mark(mark)
        loop.wantsTurnEnd(self)
        return await signal.value()
    }

    /// Says goodbye to everyone behind what was sent, waits for that at most `patience`, and begins a new instance.
    package func disconnect(within patience: Duration) async {
        takeFromCallers()
        let now = EventLoop.currentMoment()
        introductions.cancelAll(at: now)
        carryOut()
        for wire in Array(wires.values) {
            guard let seat = wire.seat else { continue }
            // Other threads may have been let in since they were asked just now: what was accepted goes, too.
            seat.link.enqueue(outlets.close(seat.peer.uid, with: EndReason(code: .left)))
            finishChannels(wire, seat, EndReason(code: .left))
            finishDatagrams(wire, seat)
            seat.isLeaving = true
            sayGoodbye(wire, seat)
        }
        leaveDeadline = min(leaveDeadline ?? .distantFuture, now + patience)
        loop.wantsTurnEnd(self)
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
        for wire in Array(wires.values) where wire.seat != nil {
            endLink(wire.id, EndReason(code: .left), telling: .goodbye)
        }
    }

    /// Once no connection is left: begins the new instance, and lets in who waits for it.
    func finishLeaving() {
        guard leaveDeadline != nil, wires.isEmpty else { return }
        leaveDeadline = nil
        let fresh = SessionDriver.local(peer, configuration, identity?.fingerprint, using: &randomness)
        introductions = Introductions(
            fresh, seats: configuration.seats, seed: randomness.next(), after: introductions.lastConnection)
        releaseWhoWaitsToLeave()
    }

    /// Ends everything at once, without a goodbye, listening too: the session's owner is gone.
    package func shutDown() {
        stopListening()
        introductions.cancelAll(at: EventLoop.currentMoment())
        carryOut()
        for wire in Array(wires.values) { abandon(wire) }
        leaveDeadline = nil
        releaseWhoWaitsToLeave()
        deliver()
        inbox.finish()
        loop.wantsTurnEnd(self)
    }

    private func releaseWhoWaitsToLeave() {
        for departure in departures { departure.send(()) }
        departures = []
    }

    /// What protects the link to a peer and what it has done; nil without a link.
    package func facts(_ uid: UID) -> LinkFacts? {
        guard let wire = wire(of: uid), let seat = wire.seat else { return nil }
        return LinkFacts(
            isEncrypted: seat.isEncrypted, suite: seat.suite, authentication: seat.authentication,
            address: "\(wire.remote)", localAddress: wire.socket.localAddress.map { "\($0)" } ?? "",
            isDialled: wire.isDialled, datagrams: seat.lane?.facts ?? LinkFacts.Datagrams(),
            statistics: seat.statistics)
    }

    package var linkedPeers: [PeerID] { wires.values.compactMap { $0.seat?.peer } }

    func wire(of uid: UID) -> Wire? { wires.values.first { $0.seat?.peer.uid == uid } }
}

// MARK: what callers wait for

extension SessionDriver {
    /// The search for a peer is over: with a link, or for this reason without one.
    func settleOutcomes(of uid: UID, _ reason: EndReason?) {
        for outcome in outcomes.removeValue(forKey: uid) ?? [] { outcome.send(reason) }
    }

    /// The link to a peer is over: what was not confirmed by now never will be.
    func settleMarks(of uid: UID) {
        for (mark, waiting) in marks where waiting.uid == uid {
            waiting.signal.send(false)
            marks[mark] = nil
        }
    }

    func reached(_ mark: UInt64) { marks.removeValue(forKey: mark)?.signal.send(true) }
}

// MARK: where others can reach us

extension SessionDriver {
    private func candidates() throws(SessionFault) -> [Candidate] {
        let listening = acceptor?.addresses() ?? []
        let addresses = configuration.advertised.isEmpty ? listening : configuration.advertised
        let candidates = Array(addresses.compactMap { Candidate($0) }.prefix(Limits.candidates))
        guard !candidates.isEmpty else { throw .noAddress }
        return configuration.advertising?(candidates) ?? candidates
    }

    private func linkLocalZones(for data: ConnectionData) -> [UInt32] {
        // Listing the interfaces costs more than the rest of a call: only where an address needs one.
        guard data.candidates.contains(where: \.isLinkLocal) else { return [] }
        return ((try? NetworkInterface.all()) ?? []).filter { $0.isUp && !$0.isLoopback }.map(\.index)
    }
}
