import MultipeerCore
import MultipeerFraming

/// Messages no longer go over UDP: they are sent on the link.
struct PathDown: Error {}

/// The send queues of the peers to whom UDP gets through, found by senders on any thread.
final class DatagramSendQueues: Sendable {
    /// The maximum of queued bytes for one peer, beyond which its senders wait. [limit.send-queue]
    private static let bytes = 262_144
    private static let messages = 1_024

    private let open = Locked<[UID: SendQueue<PathDown>]>([:])

    /// Returns the send queue to a peer; nil while its messages are sent on the link.
    subscript(uid: UID) -> SendQueue<PathDown>? { open.withLock { $0[uid] } }

    func open(_ uid: UID, waking wake: @escaping @Sendable () -> Void) -> SendQueue<PathDown> {
        let sendQueue = SendQueue<PathDown>(
            byteLimit: DatagramSendQueues.bytes, messageLimit: DatagramSendQueues.messages,
            longestMessage: Limits.datagramMessage, wake: wake)
        open.withLock { $0[uid] = sendQueue }
        return sendQueue
    }

    /// Redirects its senders to the link, and returns what was accepted and not yet taken.
    func close(_ sendQueue: SendQueue<PathDown>, of uid: UID) -> [[UInt8]] {
        open.withLock { if $0[uid] === sendQueue { $0[uid] = nil } }
        return sendQueue.close(with: PathDown())
    }
}
