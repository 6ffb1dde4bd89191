package import MultipeerCore
import MultipeerEngine
package import MultipeerFraming
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
        for recipient: UID?, joinsMesh: Bool = false, lifetime: Duration = HandshakeTiming.lifetime
    ) async throws(SessionFault) -> ConnectionData {
        while let departure = awaitDeparture() { await departure.value() }
        try listen()
        loop.wantsTurnEnd(self)
        return try issue(for: recipient, joinsMesh: joinsMesh, lifetime: lifetime)
    }

    private func issue(
        for recipient: UID?, joinsMesh: Bool, lifetime: Duration = HandshakeTiming.lifetime
    ) throws(SessionFault) -> ConnectionData {
        try issue { (engine, candidates, tokens, now) throws(ConnectionDataFault) in
            try engine.connectionData(
                for: recipient, joinsMesh: joinsMesh, candidates: candidates, tokens: tokens,
                lifetime: lifetime, at: now)
        }
    }

    func issue(
        _ body: (inout SessionEngine, [Candidate], [UInt8], Moment) throws(ConnectionDataFault) ->
            ConnectionData
    ) throws(SessionFault) -> ConnectionData {
        let candidates = try configuration.candidates(
            listeningAt: sockets.acceptor?.addresses(of: loop) ?? [])
        var tokens = randomness.bytes(64)
        defer { tokens.erase() }  // [secret.erase]
        do throws(ConnectionDataFault) {
            return try body(&engine, candidates, tokens, EventLoop.currentMoment())
        } catch {
            throw SessionFault(error)
        }
    }

    /// The members' copy of our data is old. Where that fails it is tried again later. [mesh.data]
    func renewMeshData() {
        do throws(SessionFault) { _ = try issue(for: nil, joinsMesh: true) } catch {
            engine.postponeRenewal()
        }
    }

    /// Connects to the peer of `data` and returns once it is linked; throws why not. With `issuing` it makes what the peer
    /// needs first, if there is nothing yet. `isMarked`: the owner hears when no event says that it came to nothing.
    package func connect(
        with data: ConnectionData, issuing: Bool = false, isMarked: Bool = false
    ) async throws(SessionFault) {
        while let departure = awaitDeparture() { await departure.value() }
        let pending: PendingCalls.Connect?
        do throws(SessionFault) {
            try listen()
            pending = try begin(data, issuing: issuing).map { calls.expect($0) }
        } catch {
            // One that began tells of itself.
            if isMarked { mark(.attemptFailed(data.peer)) }
            throw error
        }
        if let pending, let reason = await outcome(of: pending) { throw .refused(reason) }
    }

    private func begin(
        _ data: ConnectionData, issuing: Bool
    ) throws(SessionFault) -> ConnectRequestID? {
        do throws(LinkEstablishment.Refusal) { return try begin(data) } catch {
            guard error == .nothingIssued, issuing else { throw .refused(DisconnectReason(error)) }
        }
        _ = try issue(for: data.peer.uid, joinsMesh: false)
        do throws(LinkEstablishment.Refusal) { return try begin(data) } catch {
            throw .refused(DisconnectReason(error))
        }
    }

    private func begin(_ data: ConnectionData) throws(LinkEstablishment.Refusal) -> ConnectRequestID? {
        tellZones(for: data)
        return try engine.connect(
            with: data, within: configuration.patience, at: EventLoop.currentMoment())
    }

    func tellZones(for data: ConnectionData) {
        if data.candidates.contains(where: \.isLinkLocal) { engine.zones = loop.linkLocalZones() }
    }

    /// Stops seeking a peer; does nothing for one that is linked.
    package func cancel(_ uid: UID) {
        engine.cancel(uid, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }

    /// Returns true once the peer's side has received everything sent to it so far; false when its link ended first.
    package func flush(_ uid: UID) async -> Bool {
        guard let id = engine.links.link(to: uid) else { return false }
        takeMessages(of: id)
        let (mark, signal) = calls.awaitMark(of: uid)
        engine.links.mark(mark, on: id)
        loop.wantsTurnEnd(self)
        return await signal.value()
    }

    /// Says goodbye to everyone after what was sent, waits for that at most `patience`, and begins a new instance.
    /// `isMarked`: the owner hears `left` where that begins.
    package func disconnect(within patience: Duration, isMarked: Bool = false) async {
        takeFromCallers()
        events.endWithInstance(isMarked ? .left : nil)
        carryOut()
        for connection in sockets.ordered {
            guard let link = connection.link else { continue }
            // Other threads may have been let in since they were asked just now: what was accepted goes, too.
            engine.links.enqueue(
                queues.links.close(link.peer.uid, with: DisconnectReason(code: .left)), on: connection.id)
            channels.finish(connection.id, link, DisconnectReason(code: .left), &engine)
        }
        engine.leave(within: patience, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
        while let departure = awaitDeparture() { await departure.value() }
    }

    /// Is sent when the session has left; nil while it stays. What is asked for meanwhile is for the next instance.
    ///
    /// A call looks at this itself, in one step with what it begins: a function of the actor that it awaited would be one
    /// more turn in the queue of the loop where the task prefers its executor, and what was called later, first.
    func awaitDeparture() -> Promise<Void>? {
        engine.isLeaving && !isOver ? calls.awaitDeparture() : nil
    }

    /// The session has left: begins its next instance, and lets in the calls that wait for it.
    func beginInstance() {
        events.beginInstance()
        let fresh = configuration.local(peer, identity?.fingerprint, using: &randomness)
        engine.restart(fresh, seed: randomness.next())
        calls.hasLeft()
    }

    /// Ends everything at once, without a goodbye, listening too: the session's owner is gone.
    package func shutDown() {
        isOver = true
        stopListening()
        engine.abandon(at: EventLoop.currentMoment())
        carryOut()
        calls.hasLeft()
        events.finish()
        loop.wantsTurnEnd(self)
    }

    /// What protects the link to a peer and what it has done; nil without a link.
    package func facts(_ uid: UID) -> LinkFacts? {
        guard let connection = sockets.link(to: uid), let link = connection.link,
            var statistics = engine.links.peer(on: connection.id)?.link.statistics
        else { return nil }
        statistics.channelBytesSent = link.channelBytesSent
        statistics.channelBytesReceived = link.channelBytesReceived
        return LinkFacts(connection, link, statistics)
    }

    /// The owner hears this after everything that has happened until now.
    package func mark(_ marker: EventMarker) {
        events.append(marker)
        loop.wantsTurnEnd(self)
    }

    package var linkedPeers: [PeerID] { sockets.ordered.compactMap { $0.link?.peer } }

    /// Bytes of channels that have come and were not taken, of all links together.
    package var heldBytes: Int { engine.links.heldBytes }

    /// UDP packets that were for nobody.
    package var strayDatagrams: Int { datagrams.strays }

    /// Opens a channel; waits while the peer has as many open as it takes, or has not taken what was announced to it.
    package func open(_ opening: ChannelOpening, to uid: UID) async throws(ChannelFault) -> ChannelSender {
        if let validationError = opening.validationError { throw .invalid(validationError) }
        guard let connection = sockets.link(to: uid), let link = connection.link,
            let channel = channels.open(opening, connection, link, &engine)
        else { throw .notLinked }
        loop.wantsTurnEnd(self)
        if let fault = await channel.beginning() { throw fault }
        return ChannelSender(to: link.peer, channel)
    }
}
