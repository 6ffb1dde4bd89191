public import MultipeerCore

/// A peer as claimed on the network, and its discovery info. Discovery results are unauthenticated.
/// Spec 12.4.
public struct DiscoveredPeer: Hashable, Sendable {
    /// The identity that the peer claims. It is not authenticated until a session is.
    public let peer: PeerID
    /// What the peer advertises, as received: unauthenticated.
    public let info: [String: String]
    /// The number of the code without which the peer cannot be invited; nil when it has none. Unauthenticated like the rest.
    public let codeNumber: Int?

    /// Creates a discovered peer.
    public init(peer: PeerID, info: [String: String], codeNumber: Int? = nil) {
        self.peer = peer
        self.info = info
        self.codeNumber = codeNumber
    }

    /// Returns whether the ids, the names, the info and the numbers of the codes are equal.
    public static func == (one: DiscoveredPeer, other: DiscoveredPeer) -> Bool {
        one.peer == other.peer && one.peer.displayName == other.peer.displayName && one.info == other.info
            && one.codeNumber == other.codeNumber
    }
}

extension DiscoveredPeer {
    /// What a browser reports of one service type. Spec 12.4.
    public enum Event: Hashable, Sendable {
        /// A peer was found; reported once, until it is lost.
        case found(DiscoveredPeer)
        /// The name or the info of a found peer changed.
        case updated(DiscoveredPeer)
        /// A found peer is no longer present. If its process was started again, or if a link to it was lost and it has answered since,
        /// it is reported as found next.
        case lost(PeerID)
    }
}
