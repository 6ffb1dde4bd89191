package import MultipeerFraming
package import MultipeerIntroduction
import MultipeerMesh

// MARK: what an invitation asks of the session

extension SessionDriver {
    /// Whether a link to `uid` would find a seat, and the peer a place in the mesh.
    package func hasRoom(for uid: UID) -> Bool { mesh.hasRoom(for: uid) }

    /// What the other side of an invitation gets: the same every time, so that crossing invitations lead to one link.
    package func invitationData(for uid: UID) async throws(SessionFault) -> ConnectionData {
        try await connectionData(for: uid, joinsMesh: configuration.topology == .mesh)  // [invite.glare]
    }

    /// Seeks the peer of `data` until `end`, and answers once it is linked; data that the session issued for this must
    /// still be its own.
    ///
    /// Several may wait for one peer. Who stops waiting, by the end or by cancelling, ends the search only as the last.
    package func link(with data: ConnectionData, until end: Moment) async throws(SessionFault) {
        guard leaveDeadline == nil else { throw .refused(EndReason(code: .left)) }
        let uid = data.peer.uid
        let own = mesh.local.endpoint
        let patience = end - EventLoop.currentMoment()
        try seek(data, within: patience)
        if mesh.isLinked(to: data.endpoint) { return }
        let outcome = Signal<EndReason?>()
        outcomes[uid, default: []].append(outcome)
        loop.wantsTurnEnd(self)
        // The search has an end of its own; this one is for a search that another call began.
        let alarm = Task {
            guard (try? await Task.sleep(for: patience + SessionDriver.grace)) != nil else { return }
            outcome.send(EndReason(code: .timedOut))
        }
        defer { alarm.cancel() }
        let reason = await outcome.value(onCancel: { outcome.send(EndReason(code: .cancelled)) })
        guard let reason else { return }
        if leaveDeadline != nil || mesh.local.endpoint != own { throw .refused(EndReason(code: .left)) }
        let hasGivenUp = outcomes[uid]?.contains { $0 === outcome } == true
        if hasGivenUp {
            if mesh.isLinked(to: data.endpoint) { return }
            outcomes[uid]?.removeAll { $0 === outcome }
            if outcomes[uid]?.isEmpty == true {
                outcomes[uid] = nil
                cancel(uid)
            }
        }
        throw .refused(reason)
    }

    /// How long a search that ends by itself may take to say so.
    private static let grace = Duration.milliseconds(250)

    private func seek(_ data: ConnectionData, within patience: Duration) throws(SessionFault) {
        if data.candidates.contains(where: \.isLinkLocal) { mesh.zones = linkLocalZones() }
        do throws(Introductions.Refusal) {
            _ = try mesh.connect(with: data, within: patience, at: EventLoop.currentMoment())
        } catch .nothingIssued {
            // What was issued was another instance's.
            throw .refused(EndReason(code: .left))
        } catch {
            throw .refused(EndReason(error))
        }
    }
}

// MARK: what goes on for the session elsewhere

extension SessionDriver {
    /// Lets something go on that ends with the caller's task and when the session leaves.
    ///
    /// Throws `ended` for the latter.
    package nonisolated func pursuing<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(MultipeerError) -> Value
    ) async throws(MultipeerError) -> Value {
        let task = Task { () async -> Result<Value, MultipeerError> in
            do throws(MultipeerError) { return .success(try await body()) } catch { return .failure(error) }
        }
        let id = await beginPursuit { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        let hasEnded = await endPursuit(id)
        if hasEnded, result.failure?.code == .cancelled {
            throw MultipeerError(SessionFault.refused(EndReason(code: .left)))
        }
        return try result.get()
    }

    private func beginPursuit(_ cancel: @escaping @Sendable () -> Void) -> UInt64 {
        lastPursuit += 1
        pursuits[lastPursuit] = cancel
        return lastPursuit
    }

    /// Answers whether it was cancelled because the session left.
    private func endPursuit(_ id: UInt64) -> Bool { pursuits.removeValue(forKey: id) == nil }

    func abandonPursuits() {
        let abandoned = pursuits.values
        pursuits = [:]
        for cancel in abandoned { cancel() }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
