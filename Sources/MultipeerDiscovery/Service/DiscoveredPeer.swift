public import MultipeerCore

/// A peer that somebody on the network registrations to be, and what it tells. Spec 12.4.
public struct DiscoveredPeer: Hashable, Sendable {
    /// Who it says it is. Nothing proves it before a session does.
    public let peer: PeerID
    /// What it advertises, as it came: from a stranger.
    public let info: [String: String]

    /// A peer and its info.
    public init(peer: PeerID, info: [String: String]) {
        self.peer = peer
        self.info = info
    }

    /// Equal when the ids, the names and the info are.
    public static func == (one: DiscoveredPeer, other: DiscoveredPeer) -> Bool {
        one.peer == other.peer && one.peer.displayName == other.peer.displayName && one.info == other.info
    }
}

/// What a browser tells of one service type. Spec 12.4.
public enum BrowserEvent: Hashable, Sendable {
    /// A peer is there; told once, until it is lost.
    case found(DiscoveredPeer)
    /// A peer that was found has another name or other info.
    case updated(DiscoveredPeer)
    /// A peer that was found is there no more.
    case lost(PeerID)
}
