import MultipeerCore

/// Peers for which the session had no room. Each of them also tries to connect, and should be notified of the
/// reason.
struct DeclinedPeers: Sendable {
    private var peers: [UID: (peer: ExpectedPeer, until: Moment)] = [:]

    var expectedPeers: [ExpectedPeer] { peers.values.map(\.peer) }

    /// Returns a peer that is still to be notified.
    func peer(_ uid: UID, at now: Moment) -> ExpectedPeer? {
        peers[uid].flatMap { now < $0.until ? $0.peer : nil }
    }

    /// Keeps a peer until `end`, so that it can be notified, unless there are too many.
    mutating func add(_ peer: ExpectedPeer, until end: Moment) {
        guard peers.count < LinkEstablishment.expectedPeerLimit else { return }  // [limit.expected]
        var declined = peer
        declined.isDeclined = true
        peers[peer.endpoint.uid] = (declined, end)
    }

    mutating func remove(_ uid: UID) { peers[uid] = nil }

    mutating func removeExpired(at now: Moment) { peers = peers.filter { now < $0.value.until } }
}
