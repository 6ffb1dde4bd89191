import MultipeerCore

/// Peers for which there was no seat. Each asks as well, and should hear why nothing comes of it.
struct DeclinedPeers: Sendable {
    private var peers: [UID: (peer: ExpectedPeer, until: Moment)] = [:]

    var uids: [UID] { Array(peers.keys) }
    var expectedPeers: [ExpectedPeer] { peers.values.map(\.peer) }

    /// A peer that is still to be told.
    func peer(_ uid: UID, at now: Moment) -> ExpectedPeer? {
        peers[uid].flatMap { now < $0.until ? $0.peer : nil }
    }

    /// Keeps a peer until `end`, so that it can be told, unless there are too many of them.
    mutating func add(_ peer: ExpectedPeer, until end: Moment) {
        guard peers.count < LinkEstablishment.expectedPeerLimit else { return }  // [limit.awaited]
        var declined = peer
        declined.isDeclined = true
        peers[peer.endpoint.uid] = (declined, end)
    }

    mutating func remove(_ uid: UID) { peers[uid] = nil }

    mutating func removeExpired(at now: Moment) { peers = peers.filter { now < $0.value.until } }
}
