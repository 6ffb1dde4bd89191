import MultipeerCore
import MultipeerIntroduction

/// What callers on other threads left for the loop of a session to see to: whose queue was empty and is not any more.
///
/// So the loop looks at those and at no others, however many there are.
final class Errands: Sendable {
    enum Errand: Sendable {
        /// Messages wait in the outlet of this link.
        case messages(ConnectionID)
        /// Unreliable messages do.
        case datagrams(ConnectionID)
        /// A writer of this channel of ours wrote, finished or gave up.
        case writer(ChannelKey)
        /// A reader of this channel of the peer has taken something, or gave up.
        case reader(ChannelKey)
    }

    private struct State: Sendable {
        var errands: [Errand] = []
        var wake: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    func onChange(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    func add(_ errand: Errand) {
        let wake = state.withLock { state in
            state.errands.append(errand)
            return state.wake
        }
        wake?()
    }

    func takeAll() -> [Errand] {
        state.withLock { state in
            defer { state.errands = [] }
            return state.errands
        }
    }
}

/// One channel of one link. Each end of a link has its own numbers, so ours and the peer's are told apart elsewhere.
struct ChannelKey: Hashable, Sendable {
    let link: ConnectionID
    let number: UInt32
}
