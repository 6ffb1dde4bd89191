package import MultipeerCore
package import MultipeerHandshake
import MultipeerMesh

// MARK: requests of the application

extension SessionEngine {
    /// Begins an invitation of or to `uid`. From here to `endInvitation` it belongs to the session: when the session
    /// leaves, `abandoned` reports that it must not continue.
    package mutating func beginInvitation(of uid: UID) -> ConnectRequestID {
        requests.add(ConnectRequest(uid: uid, isInvitation: true, stage: .agreeing))
    }

    /// Returns whether there is room for a link to `uid` here, and for the peer in the mesh.
    package func hasRoom(for uid: UID) -> Bool { mesh.hasRoom(for: uid) }

    /// Connects after both sides of an invitation agreed, with the peer's data, until `end`. `connectEnded` has the
    /// outcome. The data issued for the peer must still be of this instance.
    package mutating func connect(
        _ id: ConnectRequestID, with data: ConnectionData, until end: Moment, at now: Moment
    ) {
        self.now = now
        // Earlier events are the outcome of other calls.
        settle()
        requests.agreed(id, data, until: end, isLeaving: isLeaving, at: now, &mesh, &outputs)
    }

    /// Connects with data that was exchanged by other means. Returns nil when the peer is already linked; otherwise
    /// `connectEnded` has the outcome, which is `left` at once while the session leaves.
    package mutating func connect(
        with data: ConnectionData, within timeout: Duration, at now: Moment
    ) throws(LinkEstablishment.Refusal) -> ConnectRequestID? {
        self.now = now
        // The result of an earlier attempt is the outcome of its own callers.
        settle()
        guard leaving == .staying else {
            let id = requests.add(
                ConnectRequest(uid: data.peer.uid, isInvitation: false, stage: .over))
            requests.finish(id, .left, &outputs)
            return id
        }
        let isOwn = try mesh.connect(with: data, within: timeout, at: now)
        if mesh.isLinked(to: data.endpoint) { return nil }
        let attempt = ConnectRequest.Attempt(data: data, end: .distantFuture, isOwn: isOwn)
        return requests.add(
            ConnectRequest(uid: data.peer.uid, isInvitation: false, stage: .connecting(attempt)))
    }

    /// Cancels a call.
    package mutating func cancel(_ id: ConnectRequestID, at now: Moment) {
        self.now = now
        requests.cancel(id, at: now, &mesh, &outputs)
    }

    /// Ends an invitation, with a link or without. `isAbandoned`: because the session left. `isTold`: the application
    /// knows from the reported states, because there was one since the invitation began or the peer is not unconnected.
    package mutating func endInvitation(_ id: ConnectRequestID) -> (isAbandoned: Bool, isTold: Bool) {
        guard let request = requests.remove(id) else { return (true, true) }
        return (request.isAbandoned, request.isTold || mesh.state(of: request.uid) != .notConnected)
    }
}
