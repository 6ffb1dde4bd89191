package import MultipeerCore
import MultipeerEngine
package import MultipeerFraming
package import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the session's owner calls

extension SessionDriver {
    /// Returns the data for `recipient`, or, when nil, for any peer that gets it. Listens from the first call on. With
    /// `joinsMesh`, links made with it join the mesh. `lifetime`: that of new data, in whole seconds; the mesh's data has the
    /// default lifetime.
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

    /// Renews the data that the members hold of us. After a failure it is tried again later. [mesh.data]
    func renewMeshData() {
        do throws(SessionFault) { _ = try issue(for: nil, joinsMesh: true) } catch {
            engine.postponeRenewal()
        }
    }

    /// Connects to the peer of `data` and returns once it is linked; throws the reason otherwise. With `issuing` it first makes
    /// the data that the peer needs, if there is none yet. `isMarked`: the owner is notified when the attempt failed and no event
    /// says so.
    package func connect(
        with data: ConnectionData, issuing: Bool = false, isMarked: Bool = false
    ) async throws(SessionFault) {
        while let departure = awaitDeparture() { await departure.value() }
        let pending: PendingCalls.Connect?
        do throws(SessionFault) {
            try listen()
            pending = try begin(data, issuing: issuing).map { calls.expect($0) }
        } catch {
            // An attempt that has begun reports its own end.
            if isMarked { mark(.attemptFailed(data.peer)) }
            throw error
        }
        if let pending, let reason = await outcome(of: pending) {
            throw .refused(trust.explained(reason, of: data.peer.uid))
        }
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
        let request = try engine.connect(
            with: data, within: configuration.connectTimeout, at: EventLoop.currentMoment())
        noteOrigin(of: data, .connectionData)
        return request
    }

    func tellZones(for data: ConnectionData) {
        if data.candidates.contains(where: \.isLinkLocal) { engine.zones = loop.linkLocalZones() }
    }

    /// Stops connecting to a peer; does nothing for one that is linked.
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

    /// Ends the links gracefully, waits up to the given time until all accepted data has been sent, and begins a new instance.
    /// `isMarked`: the owner receives the marker `left` where the new instance begins.
    package func disconnect(within timeLimit: Duration, isMarked: Bool = false) async {
        takeFromCallers()
        events.endWithInstance(isMarked ? .left : nil)
        carryOut()
        for connection in sockets.ordered {
            guard let link = connection.link else { continue }
            // Other threads may have queued more since their queues were last taken: what was accepted is sent, too.
            engine.links.enqueue(
                queues.links.close(link.peer.uid, with: DisconnectReason(code: .left)), on: connection.id)
            channels.finish(connection.id, link, DisconnectReason(code: .left), &engine)
        }
        engine.leave(within: timeLimit, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
        while let departure = awaitDeparture() { await departure.value() }
    }

    /// Returns a promise that is kept when the session has finished disconnecting; nil while it is not disconnecting. Requests
    /// made in the meantime are for the next instance.
    ///
    /// A call checks this itself, in one step with what it begins: awaiting another function of the actor would take one more
    /// turn in the loop's queue where the task prefers its executor, and a later call would come first.
    func awaitDeparture() -> Promise<Void>? {
        engine.isLeaving && !isOver ? calls.awaitDeparture() : nil
    }

    /// The session has disconnected: begins its next instance, and resumes the calls that wait for it.
    func beginInstance() {
        events.beginInstance()
        let fresh = configuration.local(peer, identity?.fingerprint, signer, using: &randomness)
        engine.restart(fresh, seed: randomness.next())
        calls.hasLeft()
    }

    /// Ends everything at once, without a goodbye, including listening: the session's owner is gone.
    package func shutDown() {
        isOver = true
        consumed.onChange(loop.waker(for: self))
        readyList.onChange(loop.waker(for: self), forTurnEnd: loop.waker(for: self))
        stopListening()
        engine.abandon(at: EventLoop.currentMoment())
        carryOut()
        calls.hasLeft()
        events.finish()
        loop.wantsTurnEnd(self)
    }

    /// Returns the protection and the statistics of the link to a peer; nil without a link.
    package func facts(_ uid: UID) -> ConnectionInfo? {
        guard let connection = sockets.link(to: uid), let link = connection.link,
            var statistics = engine.links.peer(on: connection.id)?.link.statistics
        else { return nil }
        statistics.channelBytesSent = link.channelBytesSent
        statistics.channelBytesReceived = link.channelBytesReceived
        let verified = trust.verified(uid, connection.channel?.peerFingerprint)
        return ConnectionInfo(connection, link, verified: verified, statistics)
    }

    /// Puts a marker after all events until now.
    package func mark(_ marker: EventMarker) {
        events.append(marker)
        loop.wantsTurnEnd(self)
    }

    package var linkedPeers: [PeerID] { sockets.ordered.compactMap { $0.link?.peer } }

    /// Bytes of channels that were received and not taken, of all links together.
    package var heldBytes: Int { engine.links.heldBytes }

    /// UDP packets that belonged to no link.
    package var strayDatagrams: Int { datagrams.strays }

    /// Opens a channel; waits while the peer has as many open as it accepts, or has not taken what was announced to it.
    package func open(_ opening: ChannelOpening, to uid: UID) async throws(ChannelFault) -> ChannelSender {
        if let validationError = opening.validationError { throw .invalid(validationError) }
        guard let connection = sockets.link(to: uid), let link = connection.link,
            let channel = channels.open(opening, connection, link, &engine)
        else { throw .notLinked }
        loop.wantsTurnEnd(self)
        if let fault = await channel.beginning() { throw fault }
        return ChannelSender(to: link.peer, channel)
    }

    /// Passes on a file that was read, from any thread.
    nonisolated func add(_ file: SmallFileOpening) { readyList.add(file) }

    func open(_ file: SmallFileOpening) {
        guard let opening = file.opening else { return }
        guard let connection = sockets.link(to: file.uid), let link = connection.link,
            let channel = channels.open(opening, connection, link, &engine)
        else { return file.fail(.notLinked) }
        file.begin(channel, to: link.peer)
        loop.wantsTurnEnd(self)
    }
}
