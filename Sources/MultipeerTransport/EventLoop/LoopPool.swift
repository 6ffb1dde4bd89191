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

    private let start: @Sendable () throws(SocketFault) -> EventLoop

    /// `start`: starts a loop.
    package init(atMost limit: Int, starting start: @escaping @Sendable () throws(SocketFault) -> EventLoop) {
        size = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), limit)
        self.start = start
        multipeer_keep_freed_memory(LoopPool.keptMemory)
        LoopPool.openTimers()
    }

    /// Has libdispatch open now, while descriptors are free, what it needs for tasks that sleep: it ends the process, or no task ever
    /// wakes, if it cannot do so later.
    private static func openTimers() {
        // Not cancelled.
        Task.detached { do { try await Task.sleep(for: .milliseconds(1)) } catch {} }
    }

    /// Returns the next loop in rotation. While no further one can be started, those that run take its turns; throws when there is none.
    package func next() throws(SocketFault) -> EventLoop {
        try state.withLock { [size, start] state throws(SocketFault) in
            if state.turn >= state.loops.count {
                do throws(SocketFault) {
                    state.loops.append(try start())
                } catch {
                    if state.loops.isEmpty { throw error }
                    state.turn = 0
                }
            }
            defer { state.turn = (state.turn + 1) % size }
            return state.loops[state.turn]
        }
    }
}

extension EventLoop {
    package static let pool = LoopPool(atMost: 16) { () throws(SocketFault) in try EventLoop() }

    package static func next() throws(SocketFault) -> EventLoop { try pool.next() }

    /// For blocking work: reading, writing and hashing files. No socket is watched there, so only transfers wait for a disk; a
    /// file system that hangs holds up the transfers that share its thread. Hashing must not keep a loop from its processor: a
    /// message may be waiting there.
    package static let filePool = LoopPool(atMost: 4) { () throws(SocketFault) in
        try EventLoop(threadName: "multipeer-file", yielding: true)
    }

    /// Returns a loop of that pool; in virtual time, the only file loop, on the same thread as everything else.
    package static func nextFileLoop() throws(SocketFault) -> EventLoop {
        if let time = VirtualTime.current { return time.fileLoop }
        return try filePool.next()
    }
}
