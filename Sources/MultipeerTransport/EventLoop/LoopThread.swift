import CPlatform
import MultipeerPlatform

/// The thread of a loop.
package enum LoopThread {
    private final class Box {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            unsafe multipeer_name_thread(name)
            body()
        }
    }

    /// Starts a thread that receives no signals: they are not ours to handle, and system calls are not interrupted. The name has
    /// at most 15 bytes.
    package static func start(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SocketFault) -> UInt {
        var before = sigset_t()
        var blocked = mask()
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        var thread: UInt = 0
        let box = unsafe Unmanaged.passRetained(Box(name, body))
        let code = unsafe multipeer_start_thread(
            { box in
                if let box = unsafe box { unsafe Unmanaged<Box>.fromOpaque(box).takeRetainedValue().run() }
                return nil
            }, box.toOpaque(), &thread)
        if code != 0 {
            unsafe box.release()
            throw code == EAGAIN ? .noThread : SocketFault(errno: code)
        }
        return thread
    }

    /// Starts a thread that is never joined.
    package static func startDetached(_ name: String, _ body: @escaping @Sendable () -> Void)
        throws(SocketFault)
    {
        multipeer_detach_thread(try start(name, body))
    }

    package typealias Starting =
        (_ name: String, _ body: @escaping @Sendable () -> Void) throws(SocketFault) -> UInt

    /// Returns why this number of further threads cannot exist at the same time; nil if they can.
    package static func problem(
        running count: Int,
        by start: Starting = { name, body throws(SocketFault) in try LoopThread.start(name, body) }
    ) -> SocketFault? {
        let end = ThreadSemaphore()
        var threads: [UInt] = []
        defer {
            for _ in threads { end.signal() }
            for thread in threads { multipeer_join_thread(thread) }
        }
        do throws(SocketFault) {
            for _ in 0..<count { threads.append(try start("multipeer-try", { end.wait() })) }
        } catch {
            return error
        }
        return nil
    }

    /// Lowers the priority of the calling thread, where the system can do that.
    static func yield() { SystemCalls.lowerPriority() }

    /// Returns every signal but those that a thread raises by its own fault: blocked, they would hide a crash.
    private static func mask() -> sigset_t {
        var set = sigset_t()
        unsafe sigfillset(&set)
        let faults = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]
        for fault in faults { unsafe sigdelset(&set, fault) }
        return set
    }
}
