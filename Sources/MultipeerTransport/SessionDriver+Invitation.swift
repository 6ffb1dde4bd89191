package import MultipeerCore
import MultipeerEngine
import MultipeerFraming
package import MultipeerIntroduction
import MultipeerMesh

// MARK: what an invitation asks of the session

extension SessionDriver {
    /// Whether a link to `uid` would find a seat, and the peer a place in the mesh. While the session leaves, the call
    /// waits, and answers for the time behind that.
    package func hasRoom(for uid: UID) async -> Bool {
        await leaving()
        return engine.mesh.hasRoom(for: uid)
    }

    /// What the other side of an invitation gets: the same every time, so that crossing invitations lead to one link.
    package func invitationData(for uid: UID) async throws(SessionFault) -> ConnectionData {
        try await connectionData(for: uid, joinsMesh: configuration.topology == .mesh)  // [invite.glare]
    }

    /// Seeks the peer of `data` until `end`, and answers once it is linked. What this session issued for it must still be
    /// its own.
    ///
    /// Several may wait for one peer. Who stops waiting, by the end or by cancelling, ends the search only as the last.
    package func link(with data: ConnectionData, until end: Moment) async throws(SessionFault) {
        let own = engine.mesh.local.endpoint
        while true {
            let patience = end - EventLoop.currentMoment()
            guard !engine.isLeaving, !isOver, engine.mesh.local.endpoint == own else {
                throw .refused(SessionDriver.left)
            }
            guard patience > .zero else { throw .refused(EndReason(code: .timedOut)) }
            let hasBegun = try begin(data, within: patience)
            if engine.mesh.isLinked(to: data.endpoint) { return }
            guard let reason = await outcome(of: data, within: patience) else { return }
            // The peer gave up an earlier invitation, which the search was for, and not this one.
            if !hasBegun, reason.closeCode == .cancelled, !Task.isCancelled { continue }
            let isLeft = engine.isLeaving || engine.mesh.local.endpoint != own
            throw .refused(isLeft ? SessionDriver.left : reason)
        }
    }

    private static let left = EndReason(code: .left)
    /// How long a search that ends by itself may take to say so.
    private static let grace = Duration.milliseconds(250)

    /// What the search for a peer comes to, or that nobody waited for it so long; nil is a link.
    private func outcome(of data: ConnectionData, within patience: Duration) async -> EndReason? {
        let uid = data.peer.uid
        let outcome = Promise<EndReason?>()
        outcomes[uid, default: []].append(outcome)
        loop.wantsTurnEnd(self)
        // For a search that another call began, with an end of its own.
        let alarm = Task {
            guard (try? await Task.sleep(for: patience + SessionDriver.grace)) != nil else { return }
            outcome.send(EndReason(code: .timedOut))
        }
        defer { alarm.cancel() }
        let reason = await outcome.value(onCancel: { outcome.send(EndReason(code: .cancelled)) })
        guard reason != nil, let place = outcomes[uid]?.firstIndex(where: { $0 === outcome }) else {
            return reason
        }
        // The search itself has not ended.
        if engine.mesh.isLinked(to: data.endpoint) { return nil }
        outcomes[uid]?.remove(at: place)
        let others = pursuits.values.count { $0.uid == uid && !$0.isAbandoned } - 1
        if outcomes[uid]?.isEmpty == true, others <= 0 {
            outcomes[uid] = nil
            cancel(uid)
        }
        return reason
    }

    private func begin(_ data: ConnectionData, within patience: Duration) throws(SessionFault) -> Bool {
        do throws(Introductions.Refusal) {
            return try seek(data, within: patience)
        } catch .nothingIssued {
            throw .refused(SessionDriver.left)  // What was issued was another instance's.
        } catch {
            throw .refused(EndReason(error))
        }
    }
}

// MARK: what goes on for the session elsewhere

/// What goes on for a session elsewhere: an invitation of or to that peer.
struct Pursuit {
    let uid: UID
    let cancel: @Sendable () -> Void
    /// The session left.
    var isAbandoned = false
    /// The session's owner was told a state of the peer meanwhile.
    var isTold = false
}

extension SessionDriver {
    /// Lets an invitation of or to `peer` go on, until the caller's task is cancelled or the session leaves.
    ///
    /// Throws `ended` for the latter.
    package nonisolated func pursuing<Value: Sendable>(
        _ peer: PeerID, _ body: @escaping @Sendable () async throws(MultipeerError) -> Value
    ) async throws(MultipeerError) -> Value {
        try await pursuit(of: peer, body).result.get()
    }

    /// The same, and whether the session's events say how it ended: whether they have told a state of the peer since it
    /// began, or have told another than `notConnected` before.
    package nonisolated func pursuit<Value: Sendable>(
        of peer: PeerID, _ body: @escaping @Sendable () async throws(MultipeerError) -> Value
    ) async -> (result: Result<Value, MultipeerError>, isTold: Bool) {
        let task = Task { () async -> Result<Value, MultipeerError> in
            do throws(MultipeerError) { return .success(try await body()) } catch { return .failure(error) }
        }
        let id = await beginPursuit(of: peer.uid) { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        let ended = await endPursuit(id)
        if ended.isAbandoned, result.failure?.code == .cancelled {
            return (.failure(MultipeerError(.refused(SessionDriver.left))), ended.isTold)
        }
        return (result, ended.isTold)
    }

    private func beginPursuit(of uid: UID, _ cancel: @escaping @Sendable () -> Void) -> UInt64 {
        lastPursuit += 1
        pursuits[lastPursuit] = Pursuit(uid: uid, cancel: cancel)
        return lastPursuit
    }

    private func endPursuit(_ id: UInt64) -> (isAbandoned: Bool, isTold: Bool) {
        guard let pursuit = pursuits.removeValue(forKey: id) else { return (true, true) }
        return (pursuit.isAbandoned, pursuit.isTold || engine.mesh.state(of: pursuit.uid) != .notConnected)
    }

    func abandonPursuits() {
        for (id, pursuit) in pursuits where !pursuit.isAbandoned {
            pursuits[id]?.isAbandoned = true
            pursuit.cancel()
        }
    }

    /// The session has left. What goes on began behind that, and what was told of its peer is of the time before.
    func forgetStates() {
        for (id, pursuit) in pursuits where !pursuit.isAbandoned { pursuits[id]?.isTold = false }
    }

    func noteState(of uid: UID) {
        for (id, pursuit) in pursuits where pursuit.uid == uid { pursuits[id]?.isTold = true }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
