import MultipeerCore
import MultipeerFraming

/// Messages do not go over UDP any more: they take the link.
struct PathDown: Error {}

/// The outlets of the peers to whom UDP gets through, found by senders on any thread.
final class DatagramOutlets: Sendable {
    /// What waits for one peer, beyond which its senders wait. [limit.outbox]
    private static let bytes = 262_144
    private static let messages = 1_024

    private let open = Locked<[UID: Outlet<PathDown>]>([:])

    /// The outlet to a peer; nil while its messages take the link.
    subscript(uid: UID) -> Outlet<PathDown>? { open.withLock { $0[uid] } }

    func open(_ uid: UID, waking wake: @escaping @Sendable () -> Void) -> Outlet<PathDown> {
        let outlet = Outlet<PathDown>(
            byteLimit: DatagramOutlets.bytes, messageLimit: DatagramOutlets.messages,
            longestMessage: Limits.datagramMessage, wake: wake)
        open.withLock { $0[uid] = outlet }
        return outlet
    }

    /// Sends its senders to the link, and answers what was accepted and is not taken yet.
    func close(_ outlet: Outlet<PathDown>, of uid: UID) -> [[UInt8]] {
        open.withLock { if $0[uid] === outlet { $0[uid] = nil } }
        return outlet.close(with: PathDown())
    }
}
