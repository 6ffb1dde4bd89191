import CPlatform
import Glibc

/// The thread under a loop.
enum LoopThread {
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

    /// Starts a thread that no signal is delivered to: it is not ours to interrupt, and system calls stay whole.
    /// The name has 15 bytes at the most.
    static func start(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SocketFault) -> pthread_t {
        var before = sigset_t()
        var blocked = mask()
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        var thread = pthread_t()
        let box = unsafe Unmanaged.passRetained(Box(name, body))
        let code = unsafe pthread_create(
            &thread, nil,
            { box in
                if let box = unsafe box { unsafe Unmanaged<Box>.fromOpaque(box).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        if code != 0 {
            unsafe box.release()
            throw SocketFault(errno: code)
        }
        return thread
    }

    /// The same for a thread that nobody waits for.
    static func startDetached(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SocketFault) {
        pthread_detach(try start(name, body))
    }

    /// From here on the calling thread lets others go first: on Linux niceness is a thread's own.
    static func yield() { _ = nice(10) }

    /// Every signal but those that a thread raises by its own fault: blocked, they would hide a crash.
    private static func mask() -> sigset_t {
        var set = sigset_t()
        unsafe sigfillset(&set)
        let faults = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]
        for fault in faults { unsafe sigdelset(&set, fault) }
        return set
    }
}
