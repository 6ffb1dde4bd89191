import MultipeerCore
import MultipeerIntroduction

/// What callers on other threads left for the loop of a session to see to: whose queue was empty and is not any more.
///
/// So the loop looks at those and at no others, however many there are.
final class ReadyList: Sendable {
    enum ReadyItem: Sendable {
        /// Messages wait in the send queue of this link.
        case messages(ConnectionID)
        /// Unreliable messages do.
        case datagrams(ConnectionID)
        /// A writer of this channel of ours wrote, finished or gave up.
        case writer(ChannelKey)
        /// A reader of this channel of the peer has taken something, or gave up.
        case reader(ChannelKey)
    }

    private struct State: Sendable {
        var items: [ReadyItem] = []
        var wake: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    func onChange(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    func add(_ readyItem: ReadyItem) {
        let wake = state.withLock { state in
            state.items.append(readyItem)
            return state.wake
        }
        wake?()
    }

    func takeAll() -> [ReadyItem] {
        state.withLock { state in
            defer { state.items = [] }
            return state.items
        }
    }
}

/// One channel of one link. Each end of a link has its own numbers, so ours and the peer's are told apart elsewhere.
struct ChannelKey: Hashable, Sendable {
    let link: ConnectionID
    let number: UInt32
}
