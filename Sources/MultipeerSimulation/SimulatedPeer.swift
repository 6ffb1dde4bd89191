public import MultipeerIntroduction
public import MultipeerMesh

/// One peer of a simulation.
public final class SimulatedPeer {
    /// What an application hears.
    public enum Event: Hashable, Sendable {
        /// What is known of a peer's link has changed.
        case peer(PeerID, PeerState)
        /// A reliable message came.
        case message([UInt8], from: PeerID)
        /// The peer's own process ended.
        case crashed
    }
}
