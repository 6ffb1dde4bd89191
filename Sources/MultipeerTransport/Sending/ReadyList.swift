import MultipeerCore
import MultipeerHandshake

/// The queues that callers on other threads have filled for the loop of a session: those that were empty and no longer are.
///
/// The loop visits only those, however many queues there are.
final class ReadyList: Sendable {
    enum ReadyItem: Sendable {
        /// Messages are waiting in the send queue of this link.
        case messages(ConnectionID)
        /// Unreliable messages are waiting.
        case datagrams(ConnectionID)
        /// A writer of this local channel has written, finished or given up.
        case writer(ChannelKey)
        /// A reader of this peer's channel has consumed data, or has given up.
        case reader(ChannelKey)
        /// Small files were read, and are to be sent.
        case files

        /// Whether it is for a reader or a writer, who may go on within the turn, or for a file.
        var concernsChannel: Bool {
            switch self {
            case .messages, .datagrams: false
            case .writer, .reader, .files: true
            }
        }
    }

    private struct State: Sendable {
        var items: [ReadyItem] = []
        /// Each item `files` stands for all of them.
        var files: [SmallFileOpening] = []
        var wake: Wake?
        /// For items that are taken at the end of a turn.
        var wakeForTurnEnd: Wake?
    }

    private let state = Locked(State())

    func onChange(
        _ wake: @escaping @Sendable () -> Void, forTurnEnd wakeForTurnEnd: @escaping @Sendable () -> Void
    ) {
        state.withLock {
            $0.wake = Wake(call: wake)
            $0.wakeForTurnEnd = Wake(call: wakeForTurnEnd)
        }
    }

    func add(_ readyItem: ReadyItem) {
        let wake = state.withLock { state in
            state.items.append(readyItem)
            return readyItem.concernsChannel ? state.wake : state.wakeForTurnEnd
        }
        wake?.call()
    }

    /// Adds a file that was read. It is not an item itself, so that items are copied without counting references.
    func add(_ file: SmallFileOpening) {
        let wake = state.withLock { state in
            state.items.append(.files)
            state.files.append(file)
            return state.wake
        }
        wake?.call()
    }

    func takeFiles() -> [SmallFileOpening] {
        state.withLock { state in
            defer { state.files = [] }
            return state.files
        }
    }

    /// Whether an item is for a reader, a writer or a file.
    var concernsChannels: Bool { state.withLock { $0.items.contains(where: \.concernsChannel) } }

    /// Swaps the items with an emptied list, whose memory is reused.
    func takeAll(swapping list: inout [ReadyItem]) {
        state.withLock { swap(&$0.items, &list) }
    }
}

/// One channel of one link. Each end of a link numbers its channels separately, so local and remote ones are distinguished
/// elsewhere.
struct ChannelKey: Hashable, Sendable {
    let link: ConnectionID
    let number: UInt32
}
