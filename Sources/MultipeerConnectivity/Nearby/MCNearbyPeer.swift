/// One peer of an `MCBrowserViewController`. Not in Apple's framework, where its window shows them.
public struct MCNearbyPeer {
    /// The state of the peer.
    public enum State: Sendable {
        /// It was not invited.
        case found
        /// It was invited, or is connecting.
        case invited
        /// It is connected.
        case connected
        /// The last invitation failed, or the connection has ended.
        case notConnected
    }

    /// The peer.
    public let peerID: MCPeerID
    /// Its discovery info; nil for none.
    public internal(set) var discoveryInfo: [String: String]?
    /// The state of the peer.
    public internal(set) var state: State
    /// Whether it is visible; one that is not is shown as long as it is connected.
    var isHere: Bool
}

/// The displayed peers, in the order in which they appeared.
struct NearbyList {
    private(set) var peers: [MCNearbyPeer] = []

    /// The number of peers that are connected, or may be soon.
    var takenPlaces: Int { peers.count { $0.state == .invited || $0.state == .connected } }

    mutating func add(_ peer: MCPeerID, _ info: [String: String]?, _ state: MCSessionState) {
        if let place = place(of: peer) {
            peers[place].discoveryInfo = info
            peers[place].isHere = true
        } else {
            let known: MCNearbyPeer.State =
                switch state {
                case .notConnected: .found
                case .connecting: .invited
                case .connected: .connected
                }
            peers.append(MCNearbyPeer(peerID: peer, discoveryInfo: info, state: known, isHere: true))
        }
    }

    mutating func lose(_ peer: MCPeerID) {
        guard let place = place(of: peer) else { return }
        peers[place].isHere = false
        removeIfGone(place)
    }

    /// Returns false when there is no peer to invite.
    mutating func invite(_ peer: MCPeerID) -> Bool {
        guard let place = place(of: peer), peers[place].isHere,
            peers[place].state == .found || peers[place].state == .notConnected
        else { return false }
        peers[place].state = .invited
        return true
    }

    /// Applies the session's state of a peer, which may have connected without being found here.
    mutating func change(_ peer: MCPeerID, _ state: MCSessionState) {
        guard let place = place(of: peer) else {
            if state == .connected {
                peers.append(
                    MCNearbyPeer(peerID: peer, discoveryInfo: nil, state: .connected, isHere: false))
            }
            return
        }
        switch state {
        case .notConnected: peers[place].state = .notConnected
        case .connecting: peers[place].state = .invited
        case .connected: peers[place].state = .connected
        }
        removeIfGone(place)
    }

    private func place(of peer: MCPeerID) -> Int? { peers.firstIndex { $0.peerID == peer } }

    private mutating func removeIfGone(_ place: Int) {
        let state = peers[place].state
        if !peers[place].isHere, state == .found || state == .notConnected { peers.remove(at: place) }
    }
}
