import Multipeer

/// The state of each peer in a room: a value that turns what the browser and the session report into the two lists that
/// are shown.
struct PeerList {
    private struct Entry {
        var id: PeerID
        /// What the peer advertises; nil while the browser does not see it.
        var info: [String: String]?
        var isInvited = false
        /// nil without a link.
        var link: RoomModel.Peer.State?
        var requestsVerification = false
        var verification: PeerVerification?

        var isKnown: Bool { info != nil || isInvited || link != nil }

        var shown: RoomModel.Peer {
            RoomModel.Peer(
                id: id, name: id.displayName, info: info ?? [:],
                state: link ?? (isInvited ? .invited : .nearby), requestsVerification: requestsVerification,
                verification: verification)
        }
    }

    /// In the order in which they appeared.
    private var entries: [Entry] = []

    /// Those without a link.
    var nearby: [RoomModel.Peer] { entries.filter { $0.link == nil }.map(\.shown) }

    /// Those with a link, or with one that is being made.
    var members: [RoomModel.Peer] { entries.filter { $0.link != nil }.map(\.shown) }

    // MARK: the browser

    mutating func found(_ peer: DiscoveredPeer) { update(peer.peer) { $0.info = peer.info } }

    mutating func lost(_ peer: PeerID) { update(peer) { $0.info = nil } }

    // MARK: invitations

    /// Returns false for a member, and for a peer that is invited already.
    mutating func invite(_ peer: PeerID) -> Bool {
        let known = entries.first { $0.id == peer }
        if let known, known.isInvited || known.link != nil { return false }
        update(peer) { $0.isInvited = true }
        return true
    }

    func isInvited(_ peer: PeerID) -> Bool { entries.contains { $0.id == peer && $0.isInvited } }

    mutating func endInvitation(of peer: PeerID) { update(peer) { $0.isInvited = false } }

    // MARK: the session

    /// Returns whether the peer was connected before.
    mutating func change(_ peer: PeerID, to state: PeerState) -> Bool {
        let wasConnected = entries.contains { $0.id == peer && $0.link == .connected }
        update(peer) { entry in
            switch state {
            case .connecting: entry.link = .connecting
            case .connected: entry.link = .connected
            case .notConnected:
                (entry.link, entry.requestsVerification, entry.verification) = (nil, false, nil)
            }
        }
        return wasConnected
    }

    mutating func requestsVerification(_ peer: PeerID) {
        update(peer) { if $0.link != nil { $0.requestsVerification = true } }
    }

    mutating func verified(_ peer: PeerID, _ verification: PeerVerification) {
        update(peer) { if $0.link == .connected { $0.verification = verification } }
    }

    // MARK: entries

    /// Changes the entry of a peer, and removes it when nothing is known about the peer.
    private mutating func update(_ peer: PeerID, _ change: (inout Entry) -> Void) {
        let index = entries.firstIndex { $0.id == peer } ?? entries.endIndex
        if index == entries.endIndex { entries.append(Entry(id: peer)) }
        // The latest name counts.
        entries[index].id = peer
        change(&entries[index])
        if !entries[index].isKnown { entries.remove(at: index) }
    }
}
