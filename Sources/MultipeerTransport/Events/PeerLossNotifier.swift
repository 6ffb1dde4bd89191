package import MultipeerCore

/// Notifies the browsers of this process of what its sessions learn about peers: a link was lost without a goodbye, so that the peer
/// is missed until discovery has found it again, or a link was made. And notifies the sessions that discovery has seen addresses change.
///
/// There is one for the process, like the sockets of discovery: sessions and browsers need not know each other.
package final class PeerLossNotifier: Sendable {
    package static let shared = PeerLossNotifier()

    package enum Event: Sendable {
        /// A link was lost.
        case lost(UID)
        /// The peer was not reached, or no link to it was made in time.
        case failed(UID)
        case linked(UID)
        /// This machine has other addresses than before.
        case moved
    }

    private struct State {
        var watchers: [UInt64: @Sendable (Event) -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Calls `body` for each event, on any thread, as long as the returned subscription is kept.
    package func watch(_ body: @escaping @Sendable (Event) -> Void) -> Subscription {
        let id = state.withLock { state in
            state.last += 1
            state.watchers[state.last] = body
            return state.last
        }
        return Subscription(self, id)
    }

    package func report(_ event: Event) {
        let watchers = state.withLock { $0.watchers.sorted { $0.key < $1.key }.map(\.value) }
        for watcher in watchers { watcher(event) }
    }

    /// Ends with its owner.
    package final class Subscription: Sendable {
        private let lossNotifier: PeerLossNotifier
        private let id: UInt64

        fileprivate init(_ lossNotifier: PeerLossNotifier, _ id: UInt64) {
            self.lossNotifier = lossNotifier
            self.id = id
        }

        deinit { lossNotifier.state.withLock { $0.watchers[id] = nil } }
    }
}
