import MultipeerCore
import MultipeerTransport

/// A further observer of a session's peer states, notified after the delegate, as long as it is kept.
final class SessionWatch: Sendable {
    fileprivate let heard: @Sendable (PeerID, MCSessionState) -> Void

    fileprivate init(_ heard: @escaping @Sendable (PeerID, MCSessionState) -> Void) { self.heard = heard }
}

/// The watches of one session.
final class SessionWatches: Sendable {
    private struct Entry {
        weak var watch: SessionWatch?
    }

    private let entries = Locked<[Entry]>([])

    func add(_ heard: @escaping @Sendable (PeerID, MCSessionState) -> Void) -> SessionWatch {
        let watch = SessionWatch(heard)
        entries.withLock { entries in
            entries.removeAll { $0.watch == nil }
            entries.append(Entry(watch: watch))
        }
        return watch
    }

    func tell(_ peer: PeerID, _ state: MCSessionState) {
        for watch in entries.withLock({ $0.compactMap(\.watch) }) { watch.heard(peer, state) }
    }
}

extension SessionCore {
    /// Calls the closure on the session's queue after each state that its delegate receives, or would receive if it had one.
    func watch(_ heard: @escaping @Sendable (PeerID, MCSessionState) -> Void) -> SessionWatch {
        watches.add(heard)
    }

    /// Reports a peer's state to the delegate, and to the watches. Only on the callback queue.
    func tell(_ peer: MCPeerID, _ state: MCSessionState) {
        withDelegate { $1.session($0, peer: peer, didChange: state) }
        watches.tell(peer.id, state)
    }
}
