import MultipeerEssentials

/// The peers that advertise the same room, and which of them are being invited.
struct DiscoveredRoomPeers: Sendable {
    private var present: Set<PeerID> = []
    private var invitations: [PeerID: Task<Void, Never>] = [:]

    func contains(_ peer: PeerID) -> Bool { present.contains(peer) }

    func isInvited(_ peer: PeerID) -> Bool { invitations[peer] != nil }

    mutating func add(_ peer: PeerID) { present.insert(peer) }

    mutating func remove(_ peer: PeerID) {
        present.remove(peer)
        invitations.removeValue(forKey: peer)?.cancel()
    }

    mutating func beginInvitation(of peer: PeerID, _ task: Task<Void, Never>) { invitations[peer] = task }

    mutating func endInvitation(of peer: PeerID) { invitations[peer] = nil }

    func cancelInvitations() {
        for task in invitations.values { task.cancel() }
    }
}
