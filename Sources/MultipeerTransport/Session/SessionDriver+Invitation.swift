package import MultipeerCore
package import MultipeerEngine
import MultipeerFraming
package import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity

// MARK: what an invitation needs of the session

extension SessionDriver {
    /// Returns whether there is room for a link to `uid`, and for the peer in the mesh. While the session is disconnecting, the
    /// call waits, and the result is that of the instance after that.
    package func hasRoom(for uid: UID) async -> Bool {
        while let departure = awaitDeparture() { await departure.value() }
        return engine.hasRoom(for: uid)
    }

    /// Returns the data for the other side of an invitation.
    package func invitationData(for uid: UID) async throws(SessionFault) -> ConnectionData {
        while let departure = awaitDeparture() { await departure.value() }
        try listen()
        loop.wantsTurnEnd(self)
        return try issue { (engine, candidates, tokens, now) throws(ConnectionDataFault) in
            try engine.invitationData(for: uid, candidates: candidates, tokens: tokens, at: now)
        }
    }

    /// Connects to the peer of `data`, which both sides of the invitation agreed on, until `end`; returns once it is linked.
    /// `code`: how often the code that both ends have proven may be used; nil when there was none. A code that is used once is
    /// known to two users, so the link is verified; one that stays valid is shared by a group.
    package func link(
        _ invitation: ConnectRequestID, with data: ConnectionData, to peer: PeerID, until end: Moment,
        provenBy code: InvitationCode.Validity? = nil
    ) async throws(MultipeerError) {
        guard !isOver else { throw MultipeerError(linking: DisconnectReason(code: .left), to: peer) }
        if code == .once, let key = data.fingerprint { noteVerified(peer.uid, key, by: .code) }
        tellZones(for: data)
        engine.connect(invitation, with: data, until: end, at: EventLoop.currentMoment())
        noteOrigin(of: data, code == nil ? .network : .sharedCode)
        if let reason = await outcome(of: calls.expect(invitation)) {
            throw MultipeerError(linking: trust.explained(reason, of: peer.uid), to: peer)
        }
        // The link is verified whether or not this can be written.
        if code == .once { try? await rememberVerified(peer.uid, by: .code) }
    }

    /// Runs an invitation of or to `peer` until the caller's task is cancelled or the session disconnects.
    ///
    /// `isMarked`: the owner is notified when the attempt failed and the session's events do not say so. They do when they have
    /// reported a state of the peer since it began, or had reported one other than `notConnected` before.
    package nonisolated func invitation<Value: Sendable>(
        of peer: PeerID, isMarked: Bool = false,
        _ body: @escaping @Sendable (ConnectRequestID) async throws(MultipeerError) -> Value
    ) async -> Result<Value, MultipeerError> {
        let number = Promise<ConnectRequestID>()
        let task = Task.following { () async -> Result<Value, MultipeerError> in
            let number = await number.value()
            do throws(MultipeerError) { return .success(try await body(number)) } catch {
                return .failure(error)
            }
        }
        let id = await begin(peer.uid) { task.cancel() }
        number.send(id)
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        guard case .failure(let error) = result else {
            _ = await end(id)
            return result
        }
        let isAbandoned = await end(id, marking: isMarked ? peer : nil)
        let hasLeft = isAbandoned && error.code == .cancelled
        return hasLeft ? .failure(MultipeerError(.refused(DisconnectReason(code: .left)))) : result
    }

    private func begin(_ uid: UID, _ cancel: @escaping @Sendable () -> Void) -> ConnectRequestID {
        let id = engine.beginInvitation(of: uid)
        calls.begin(id, cancel)
        return id
    }

    /// Returns whether the session disconnected before. `peer`: the one whose attempt failed, for an owner that wants to be
    /// notified.
    private func end(_ id: ConnectRequestID, marking peer: PeerID? = nil) -> Bool {
        calls.end(id)
        let (isAbandoned, isTold) = engine.endInvitation(id)
        if let peer, !isTold { mark(.attemptFailed(peer)) }
        return isAbandoned
    }
}

// MARK: what callers wait for

extension SessionDriver {
    /// Returns the outcome of the call; nil is a link. Cancelling the task ends the wait.
    func outcome(of pending: PendingCalls.Connect) async -> DisconnectReason? {
        loop.wantsTurnEnd(self)
        return await pending.outcome.value(onCancel: {
            Task.following { await self.cancel(pending.request) }
        })
    }

    private func cancel(_ request: ConnectRequestID) {
        engine.cancel(request, at: EventLoop.currentMoment())
        loop.wantsTurnEnd(self)
    }
}
