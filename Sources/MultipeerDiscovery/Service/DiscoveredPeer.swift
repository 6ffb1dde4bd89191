public import MultipeerCore

/// A peer as claimed on the network, and its discovery info. Discovery results are unauthenticated.
/// Spec 12.4.
public struct DiscoveredPeer: Hashable, Sendable {
    /// The identity that the peer claims. It is not authenticated until a session is.
    public let peer: PeerID
    /// What the peer advertises, as received: unauthenticated.
    public let info: [String: String]

    /// Creates a discovered peer.
    public init(peer: PeerID, info: [String: String]) {
        self.peer = peer
        self.info = info
    }

    /// Returns whether the ids, the names and the info are equal.
    public static func == (one: DiscoveredPeer, other: DiscoveredPeer) -> Bool {
        one.peer == other.peer && one.peer.displayName == other.peer.displayName && one.info == other.info
    }
}

extension DiscoveredPeer {
    /// What a browser reports of one service type. Spec 12.4.
    public enum Event: Hashable, Sendable {
        /// A peer was found; reported once, until it is lost.
        case found(DiscoveredPeer)
        /// The name or the info of a found peer changed.
        case updated(DiscoveredPeer)
        /// A found peer is no longer present. If its process was started again, it is reported as found next.
        case lost(PeerID)
    }
}
