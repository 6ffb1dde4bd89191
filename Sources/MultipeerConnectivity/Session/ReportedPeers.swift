import MultipeerCore

/// The peers that the delegate knows to be connecting or connected: as the session's events have reported, except that none are
/// from a `disconnect` on, until the events report that it is done.
struct ReportedPeers {
    private struct Entry {
        let peer: MCPeerID
        var state: MCSessionState
    }

    /// Those that are connecting or connected.
    private var entries: [PeerID: Entry] = [:]
    /// Those that are connected, in their order.
    private var order: [PeerID] = []
    /// The peers at each disconnect that is under way.
    private var departures: [[MCPeerID]] = []
}

// MARK: peers

extension ReportedPeers {
    func state(of peer: PeerID) -> MCSessionState { entries[peer]?.state ?? .notConnected }

    var connected: [MCPeerID] { order.compactMap { entries[$0]?.peer } }

    /// Returns the object by which the delegate knows the peer.
    func object(_ peer: PeerID) -> MCPeerID { entries[peer]?.peer ?? MCPeerID(peer) }

    /// Returns the same, only for a peer that is connected.
    func connected(_ peer: PeerID) -> MCPeerID? { state(of: peer) == .connected ? entries[peer]?.peer : nil }

    /// Returns the peer if the delegate has to be notified.
    mutating func change(_ peer: PeerID, to state: MCSessionState) -> MCPeerID? {
        guard state != self.state(of: peer) else { return nil }
        let object = object(peer)
        order.removeAll { $0 == peer }
        entries[peer] = state == .notConnected ? nil : Entry(peer: object, state: state)
        if state == .connected { order.append(peer) }
        return object
    }
}

// MARK: leaving

extension ReportedPeers {
    /// Whether events belong to a session that is disconnecting, whose peers are reported as lost when it ends.
    var isLeaving: Bool { !departures.isEmpty }

    /// Makes every peer not connected from here on.
    mutating func leave() {
        departures.append(entries.values.map(\.peer))
        entries = [:]
        order = []
    }

    /// Ends the earliest disconnect. Returns the peers to be reported as lost.
    mutating func hasLeft() -> [MCPeerID] { departures.isEmpty ? [] : departures.removeFirst() }
}
