public import MultipeerCore
import MultipeerEngine
public import MultipeerMesh

/// One peer of a simulation: its session and the application's view of it.
public final class SimulatedPeer {
    /// An event that an application receives.
    public enum Event: Hashable, Sendable {
        /// The state of a peer has changed.
        case peer(PeerID, PeerState)
        /// A reliable message was received.
        case message([UInt8], from: PeerID)
        /// The peer's own process ended: everything that it knew is gone.
        case crashed
    }

    /// The peer's id.
    public let id: PeerID
    let index: Int
    private let world: World

    init(_ id: PeerID, _ world: World, _ index: Int) {
        self.id = id
        self.world = world
        self.index = index
    }

    private var node: Node { world.nodes[index] }

    /// All events since the last call of `takeEvents`, in order.
    public var events: [Event] { node.application.journal }

    /// Returns the same events, and removes them.
    public func takeEvents() -> [Event] {
        defer { node.application.journal = [] }
        return node.application.journal
    }

    /// The peers to which it has a link, in the order of their ids.
    public var linkedPeers: [PeerID] {
        node.links.compactMap { $0.linkState?.peer }.sorted { $0.uid < $1.uid }
    }

    /// Sends a reliable message; returns false when there is no link to the peer.
    @discardableResult
    public func send(_ message: [UInt8], to peer: SimulatedPeer) -> Bool {
        guard node.isRunning, !node.engine.isLeaving, let socket = node.link(to: peer.id.uid) else {
            return false
        }
        node.engine.links.enqueue([message], on: socket.id)
        world.settle(node)
        return true
    }

    /// Says goodbye to all peers and starts again, like `disconnect` of a session.
    public func disconnect() { world.applications.disconnect(node) }

    /// Stops connecting to a peer.
    public func cancel(_ peer: SimulatedPeer) { world.applications.cancel(node, peer.id.uid) }
}
