import MultipeerCore

/// Which peers the delegate knows to be connecting or connected: what the session's events have told, but that nobody is
/// there from a `disconnect` on, until the events tell that it is done.
struct ReportedPeers {
    private struct Entry {
        let peer: MCPeerID
        var state: MCSessionState
    }

    /// Those that are connecting or connected.
    private var entries: [PeerID: Entry] = [:]
    /// Those that are connected, in their order.
    private var order: [PeerID] = []
    /// Who was there when the session was left, for each time that goes on.
    private var departures: [[MCPeerID]] = []
}

// MARK: peers

extension ReportedPeers {
    func state(of peer: PeerID) -> MCSessionState { entries[peer]?.state ?? .notConnected }

    var connected: [MCPeerID] { order.compactMap { entries[$0]?.peer } }

    /// The object by which the delegate knows the peer.
    func object(_ peer: PeerID) -> MCPeerID { entries[peer]?.peer ?? MCPeerID(peer) }

    /// The same, only of a peer that is connected.
    func connected(_ peer: PeerID) -> MCPeerID? { state(of: peer) == .connected ? entries[peer]?.peer : nil }

    /// Returns the peer if the delegate has to be told.
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
    /// Events are of the session that is being left, and its peers are told off with its end.
    var isLeaving: Bool { !departures.isEmpty }

    /// Nobody is connected from here on.
    mutating func leave() {
        departures.append(entries.values.map(\.peer))
        entries = [:]
        order = []
    }

    /// The session that was left first has been left. Returns who has to be told off.
    mutating func hasLeft() -> [MCPeerID] { departures.isEmpty ? [] : departures.removeFirst() }
}
