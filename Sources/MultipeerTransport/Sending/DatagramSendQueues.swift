import MultipeerCore
import MultipeerFraming

/// Messages no longer go over UDP: they are sent on the link.
struct PathDown: Error {}

/// The send queues of the peers to whom UDP gets through, found by senders on any thread.
final class DatagramSendQueues: Sendable {
    /// The maximum of queued bytes for one peer, beyond which its senders wait. [limit.send-queue]
    private static let bytes = 262_144
    private static let messages = 1_024

    private struct Entry {
        let uid: UID
        let sendQueue: SendQueue<PathDown>
    }

    /// There are few, and each message looks one up: to compare them all takes less time than a hash.
    private let open = Locked<[Entry]>([])

    /// Returns the send queue to a peer; nil while its messages are sent on the link.
    subscript(uid: UID) -> SendQueue<PathDown>? {
        open.withLock { entries in
            for entry in entries where entry.uid == uid { return entry.sendQueue }
            return nil
        }
    }

    func open(_ uid: UID, waking wake: @escaping @Sendable () -> Void) -> SendQueue<PathDown> {
        let sendQueue = SendQueue<PathDown>(
            byteLimit: DatagramSendQueues.bytes, messageLimit: DatagramSendQueues.messages,
            longestMessage: Limits.datagramMessage, wake: wake)
        open.withLock { entries in
            entries.removeAll { $0.uid == uid }
            entries.append(Entry(uid: uid, sendQueue: sendQueue))
        }
        return sendQueue
    }

    /// Redirects its senders to the link, and returns what was accepted and not yet taken.
    func close(_ sendQueue: SendQueue<PathDown>, of uid: UID) -> [[UInt8]] {
        open.withLock { entries in entries.removeAll { $0.sendQueue === sendQueue } }
        return sendQueue.close(with: PathDown())
    }
}
