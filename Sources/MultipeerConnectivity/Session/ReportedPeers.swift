import MultipeerCore

/// The peers that the delegate knows to be connecting or connected: as the session's events have reported, except that none are
/// from a `disconnect` on, until the events report that it is done.
struct ReportedPeers {
    private struct Entry {
        let peer: MCPeerID
        let uid: UID
        var state: MCSessionState
    }

    /// Those that are connecting or connected; the connected ones in the order in which they connected. They are few, and looked
    /// up for each message: to compare them all takes less time than a hash.
    private var entries: [Entry] = []
    /// The peers at each disconnect that is under way.
    private var departures: [[MCPeerID]] = []
}

// MARK: peers

extension ReportedPeers {
    func state(of peer: PeerID) -> MCSessionState { entry(peer.uid)?.state ?? .notConnected }

    func isConnected(_ uid: UID) -> Bool {
        entries.contains { $0.uid == uid && $0.state == .connected }
    }

    /// Returns the uid of a peer that is connected. Most callers name it by the object that the delegate knows, which is not
    /// accessed then: Swift checks each access to a property of an object that may be subclassed at run time.
    func uid(ofConnected peer: MCPeerID) -> UID? {
        for index in entries.indices where entries[index].peer === peer {
            return entries[index].state == .connected ? entries[index].uid : nil
        }
        let uid = peer.id.uid
        return isConnected(uid) ? uid : nil
    }

    var connected: [MCPeerID] { entries.filter { $0.state == .connected }.map(\.peer) }

    /// Returns the object by which the delegate knows the peer.
    func object(_ peer: PeerID) -> MCPeerID { entry(peer.uid)?.peer ?? MCPeerID(peer) }

    /// Returns the same, only for a peer that is connected.
    func connected(_ peer: PeerID) -> MCPeerID? {
        guard let entry = entry(peer.uid), entry.state == .connected else { return nil }
        return entry.peer
    }

    /// Returns the peer if the delegate has to be notified.
    mutating func change(_ peer: PeerID, to state: MCSessionState) -> MCPeerID? {
        guard state != self.state(of: peer) else { return nil }
        let object = object(peer)
        entries.removeAll { $0.uid == peer.uid }
        if state != .notConnected { entries.append(Entry(peer: object, uid: peer.uid, state: state)) }
        return object
    }

    private func entry(_ uid: UID) -> Entry? { entries.first { $0.uid == uid } }
}

// MARK: leaving

extension ReportedPeers {
    /// Whether events belong to a session that is disconnecting, whose peers are reported as lost when it ends.
    var isLeaving: Bool { !departures.isEmpty }

    /// Makes every peer not connected from here on.
    mutating func leave() {
        departures.append(entries.map(\.peer))
        entries = []
    }

    /// Ends the earliest disconnect. Returns the peers to be reported as lost.
    mutating func hasLeft() -> [MCPeerID] { departures.isEmpty ? [] : departures.removeFirst() }
}
