import CPlatform
import Glibc

/// The thread under a loop.
enum LoopThread {
    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a thread that no signal is delivered to: it is not ours to interrupt, and system calls stay whole.
    static func start(_ body: @escaping @Sendable () -> Void) throws(SocketFault) -> pthread_t {
        var before = sigset_t()
        var blocked = mask()
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        var thread = pthread_t()
        let box = unsafe Unmanaged.passRetained(Box(body))
        let code = unsafe pthread_create(
            &thread, nil,
            { box in
                unsafe multipeer_name_thread("multipeer-loop")
                if let box = unsafe box { unsafe Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        if code != 0 {
            unsafe box.release()
            throw SocketFault(errno: code)
        }
        return thread
    }

    /// Every signal but those that a thread raises by its own fault: blocked, they would hide a crash.
    private static func mask() -> sigset_t {
        var set = sigset_t()
        unsafe sigfillset(&set)
        let faults = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]
        for fault in faults { unsafe sigdelset(&set, fault) }
        return set
    }
}
