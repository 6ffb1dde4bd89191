import CPlatform
import MultipeerPlatform

/// The loops that the sessions of a process share, up to sixteen, and those for its file I/O, up to four: of each kind at most
/// one for each core, each started at its first use.
package final class LoopPool: Sendable {
    private struct State {
        var loops: [EventLoop] = []
        var turn = 0
    }

    private let state = Locked(State())
    private let size: Int

    /// Freed memory up to twice this is kept: what a few peers' messages in flight amount to.
    private static let keptMemory: UInt = 4 * 1_048_576

    private let threadName: String
    private let isYielding: Bool

    fileprivate init(threadName: String, atMost limit: Int, yielding: Bool = false) {
        size = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), limit)
        self.threadName = threadName
        isYielding = yielding
        multipeer_keep_freed_memory(LoopPool.keptMemory)
    }

    /// Returns the next loop in rotation.
    package func next() throws(SocketFault) -> EventLoop {
        try state.withLock { [size, threadName, isYielding] state throws(SocketFault) in
            defer { state.turn = (state.turn + 1) % size }
            if state.turn == state.loops.count {
                state.loops.append(try EventLoop(threadName: threadName, yielding: isYielding))
            }
            return state.loops[state.turn]
        }
    }
}

extension EventLoop {
    package static let pool = LoopPool(threadName: "multipeer-loop", atMost: 16)

    package static func next() throws(SocketFault) -> EventLoop { try pool.next() }

    /// For blocking work: reading, writing and hashing files. No socket is watched there, so only transfers wait for a disk; a
    /// file system that hangs holds up the transfers that share its thread. Hashing must not keep a loop from its processor: a
    /// message may be waiting there.
    package static let filePool = LoopPool(threadName: "multipeer-file", atMost: 4, yielding: true)

    /// Returns a loop of that pool; in virtual time, the only file loop, on the same thread as everything else.
    package static func nextFileLoop() throws(SocketFault) -> EventLoop {
        if let time = VirtualTime.current { return time.fileLoop }
        return try filePool.next()
    }
}
