package import MultipeerCore
import MultipeerEngine
import MultipeerFraming
package import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the session's owner calls

extension SessionDriver {
    /// The data to hand to `recipient`, or, when nil, to whoever it is handed to. Listens from the first call on.
    /// With `joinsMesh`, links made with it join the mesh. `lifetime`: of new data, in whole
    /// seconds; what the mesh is given has the usual one.
    package func connectionData(
        for recipient: UID?, joinsMesh: Bool = false, lifetime: Duration = Timing.lifetime
    ) async throws(SessionFault) -> ConnectionData {
        if joinsMesh, configuration.topology == .star {
            throw .invalidArgument("a session whose topology is star joins no mesh")  // [mesh.star]
        }
        await leaving()
        try listen()
        // What members of the mesh hear of us is there before anybody can be one.
        if joinsMesh, recipient != nil { _ = try issue(for: nil, joinsMesh: true) }
        let data = try issue(for: recipient, joinsMesh: joinsMesh, lifetime: lifetime)
        loop.wantsTurnEnd(self)
        return data
    }

    private func issue(
        for recipient: UID?, joinsMesh: Bool, lifetime: Duration = Timing.lifetime
    ) throws(SessionFault) -> ConnectionData {
        let candidates = try candidates()
        var token = try SessionFault.security { () throws(SecurityFault) in try Randomness.bytes(32) }
        defer { token.erase() }  // [secret.erase]
        var flags: ConnectionData.Flags = configuration.datagrams ? .datagrams : []
        if joinsMesh { flags.insert(.mesh) }
        do throws(InvalidConnectionData) {
            return try engine.connectionData(
                for: recipient, candidates: candidates, flags: flags, token: token,
                lifetime: lifetime, at: EventLoop.currentMoment())
        } catch {
            throw .invalidData(error)
        }
    }

    /// The members' copy of our data is old. Where that fails it is tried again later. [mesh.data]
    func renewMeshData() {
        do throws(SessionFault) { _ = try issue(for: nil, joinsMesh: true) } catch {
            engine.postponeRenewal()
        }
    }

    /// Seeks the peer of `data` and answers once it is linked; throws why not. With `issuing` it makes what the peer needs
    /// first, if there is nothing yet.
    package func connect(with data: ConnectionData, issuing: Bool = false) async throws(SessionFault) {
        await leaving()
        try listen()
        let uid = data.peer.uid
        // What an attempt before came to is its own callers' outcome, not this one's.
        carryOut()
        var refusal = seek(data)
        if refusal == .nothingIssued, issuing {
            _ = try issue(for: uid, joinsMesh: false)
            refusal = seek(data)
        }
        if let refusal { throw .refused(EndReason(refusal)) }
        if engine.mesh.isLinked(to: data.endpoint) { return }
        // It is sought now, by this call or by one before, so there will be an outcome.
        let outcome = Promise<EndReason?>()
        outcomes[uid, default: []].append(outcome)
        loop.wantsTurnEnd(self)
        let reason = await outcome.value(onCancel: { [weak self] in
            guard let self else { return }
            Task { await self.cancel(uid) }
        })
        if let reason { throw .refused(reason) }
    }

    /// Answers why there will be no search.
    private func seek(_ data: ConnectionData) -> Introductions.Refusal? {
        do throws(Introductions.Refusal) {
            _ = try seek(data, within: configuration.patience)
            return nil
        } catch {
            return error
        }
    }

    /// Answers whether the search begins with this call.
    func seek(_ data: ConnectionData, within patience: Duration) throws(Introductions.Refusal) -> Bool {
        if data.candidates.contains(where: \.isLinkLocal) { engine.zones = linkLocalZones() }
        return try engine.connect(with: data, within: patience, at: EventLoop.currentMoment())
    }

    /// Stops seeking a peer; does nothing for one that is linked.
    package func cancel(_ uid: UID) {
        engine.cancel(uid, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }

    /// Answers true once the peer's side has received everything sent to it so far; false when its link ended first.
    package func flush(_ uid: UID) async -> Bool {
        guard let id = engine.link(to: uid) else { return false }
        takeMessages(of: id)
        lastMark += 1
        let (mark, signal) = (lastMark, Promise<Bool>())
        marks[mark] = (uid, signal)
        engine.mark(mark, on: id)
        loop.wantsTurnEnd(self)
        return await signal.value()
    }

    /// Says goodbye to everyone behind what was sent, waits for that at most `patience`, and begins a new instance.
    package func disconnect(within patience: Duration) async {
        takeFromCallers()
        abandonPursuits()
        carryOut()
        for wire in Array(wires.values) {
            guard let seat = wire.seat else { continue }
            // Other threads may have been let in since they were asked just now: what was accepted goes, too.
            engine.enqueue(outlets.close(seat.peer.uid, with: EndReason(code: .left)), on: wire.id)
            finishChannels(wire, seat, EndReason(code: .left))
            finishDatagrams(wire, seat)
        }
        engine.leave(within: patience, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
        await leaving()
    }

    /// Waits while the session leaves: what is asked for meanwhile is for the next instance.
    func leaving() async {
        while engine.isLeaving, !isOver {
            let departure = Promise<Void>()
            departures.append(departure)
            await departure.value()
        }
    }

    /// The session has left: begins its next instance, and lets in the calls that wait for it.
    func beginInstance() {
        firstEvent = eventCount
        forgetStates()
        let fresh = SessionDriver.local(peer, configuration, identity?.fingerprint, using: &randomness)
        engine.restart(fresh, seed: randomness.next())
        releaseWhoWaitsToLeave()
    }

    /// Ends everything at once, without a goodbye, listening too: the session's owner is gone.
    package func shutDown() {
        isOver = true
        stopListening()
        abandonPursuits()
        engine.abandon(at: EventLoop.currentMoment())
        carryOut()
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
        guard let wire = wire(of: uid), let seat = wire.seat,
            var statistics = engine.peer(on: wire.id)?.link.statistics
        else { return nil }
        statistics.channelBytesSent = seat.channelBytesSent
        statistics.channelBytesReceived = seat.channelBytesReceived
        return LinkFacts(
            isEncrypted: seat.isEncrypted, suite: seat.suite, authentication: seat.authentication,
            address: "\(wire.remote)", localAddress: wire.socket.localAddress.map { "\($0)" } ?? "",
            isDialled: wire.isDialled, datagrams: seat.lane?.facts ?? LinkFacts.Datagrams(),
            statistics: statistics)
    }

    /// How many events there have been, with those that are about to be delivered: who counts what it takes from the
    /// inbox knows when it has seen everything that led to this moment.
    package var eventCount: Int { inbox.pushed + pending.count }

    package var linkedPeers: [PeerID] { wires.values.compactMap { $0.seat?.peer } }

    /// Bytes of channels that have come and were not taken, of all links together.
    package var heldBytes: Int { engine.heldBytes }

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

    /// Listing the interfaces costs more than the rest of a call: only where an address needs one.
    func linkLocalZones() -> [UInt32] {
        ((try? NetworkInterface.all()) ?? []).filter { $0.isUp && !$0.isLoopback }.map(\.index)
    }
}
