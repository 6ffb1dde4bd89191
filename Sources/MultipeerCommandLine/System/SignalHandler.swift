import MultipeerEssentials
import Synchronization

/// Waits for SIGINT, SIGTERM and SIGHUP, so that links can be closed gracefully; ignores SIGPIPE and SIGXFSZ; and ends at once at SIGQUIT,
/// without the memory dump of its default action. The exit status is 128 and the number of the signal. SIGTSTP suspends the
/// process once the terminal is as it was, and SIGCONT takes the terminal again.
///
/// The main thread does nothing else. All threads have these signals blocked: the first thread blocks them before it starts
/// others, which inherit that.
package enum SignalHandler {
    package typealias Cleanup = @Sendable () async -> Void

    private struct State {
        var cleanup: Cleanup?
        var hasCome = false
        var onResize: (@Sendable () -> Void)?
    }

    private static let state = Locked(State())
    /// The status of a program whose cleanup does not begin.
    private static let lateStatus = Atomic<Int32>(0)
    /// How long the cleanup may take to begin, in seconds.
    private static let cleanupStart: UInt32 = 3

    package static func block() {
        var set = signals
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        // A write beyond a limit fails, which is reported, and does not end the process.
        for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
    }

    /// Sets the cleanup that runs first when the command is interrupted.
    package static func first(_ body: @escaping Cleanup) { state.withLock { $0.cleanup = body } }

    /// Sets what is called when the terminal has another size.
    package static func onResize(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onResize = body }
    }

    /// Never returns once a signal has been received: an interrupted command does not report how it ended.
    package static func yield() async { if state.withLock({ $0.hasCome }) { await Promise<Void>().value() } }

    /// Waits for signals on the main thread, which no command uses. The first signal ends the process after the cleanup, the
    /// second immediately.
    package static func serve() -> Never {
        let number = wait()
        guard number != SIGQUIT else { leave(number) }
        state.withLock { $0.hasCome = true }
        leaveSoon(number)
        Task.detached {
            _ = alarm(0)
            if let body = state.withLock({ $0.cleanup }) { await body() }
            leave(number)
        }
        leave(wait())
    }

    /// Ends the process unless the alarm is called off. A task, or the call that creates it, waits as long as libdispatch needs a
    /// thread and gets none.
    private static func leaveSoon(_ number: Int32) {
        lateStatus.store(128 + number, ordering: .relaxed)
        _ = signal(SIGALRM) { _ in _exit(SignalHandler.lateStatus.load(ordering: .relaxed)) }
        var alarms = set(of: [SIGALRM])
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &alarms, nil)
        _ = alarm(cleanupStart)
    }

    private static func leave(_ number: Int32) -> Never { Terminal.leave(status: 128 + number) }

    private static func wait() -> Int32 {
        var set = signals
        var number: Int32 = 0
        while true {
            while unsafe sigwait(&set, &number) != 0 {}
            switch number {
            case SIGWINCH: state.withLock(\.onResize)?()
            case SIGTSTP: stop()
            case SIGCONT: TerminalHold.resume()
            default: return number
            }
        }
    }

    /// Without those that the parent process set to be ignored: `nohup` does that with SIGHUP, and a shell without job control
    /// with SIGTSTP.
    private static var signals: sigset_t {
        let wishes = [SIGHUP, SIGTSTP].filter { !isIgnored($0) }
        return set(of: [SIGINT, SIGTERM, SIGQUIT, SIGWINCH, SIGCONT] + wishes)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        _ = unsafe sigemptyset(&set)
        for number in numbers { _ = unsafe sigaddset(&set, number) }
        return set
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        let isKnown = unsafe sigaction(number, nil, &action) == 0
        return unsafe isKnown && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}

// MARK: - Job control

extension SignalHandler {
    /// Suspends the process, and those that a pipe connects it with, as the terminal does at Ctrl-Z.
    package static func suspend() { _ = kill(0, SIGTSTP) }

    /// Gives the terminal back, and lets the signal have the effect that a shell expects. Returns when the process is continued; at
    /// once if the system does not stop it, because no shell could continue it.
    private static func stop() {
        TerminalHold.lend()
        var tried = set(of: [SIGTSTP])
        _ = kill(getpid(), SIGTSTP)
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &tried, nil)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &tried, nil)
        TerminalHold.resume()
    }

    /// Returns the result of `body`, during which the process is stopped if it reads a terminal, or changes its mode, from the
    /// background, as every program is. All threads but the first block what stops them: then a read fails, and a change is
    /// carried out, to the harm of the program in the foreground.
    static func stoppable<Value>(_ body: () -> Value) -> Value {
        var stopping = set(of: [SIGTTIN, SIGTTOU])
        var before = sigset_t()
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &stopping, &before)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }
}
