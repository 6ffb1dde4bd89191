import Dispatch
import MultipeerEssentials

/// The terminal while the user types: in another mode than the one it had, or with a question in its last line.
///
/// It is held in the foreground only. Before the process is suspended, and before it ends, the terminal has its own mode again,
/// and a line for the shell; in the foreground it is taken again, and what was there is drawn again. From the background nothing
/// is changed: the mode and the lines are those of another program.
///
/// ```
///             suspended, or found in the background
///     taken ─────────────────────────────────────────▶ lent
///       ▲                                               │
///       └─────────── found in the foreground ───────────┘
/// ```
package enum TerminalHold {
    /// What is typed.
    enum Input: Sendable {
        case line
        /// A line that is not shown.
        case secret
        /// Keys that count at once and are not shown. The beginning and the end of what is pasted are marked.
        case keys

        /// The parts of the mode that are turned off.
        fileprivate var flags: tcflag_t {
            switch self {
            case .line: 0
            case .secret: tcflag_t(ECHO)
            case .keys: tcflag_t(ECHO | ICANON)
            }
        }

        /// Whether the process has nothing to do before the answer.
        fileprivate var isQuestion: Bool {
            switch self {
            case .line, .secret: true
            case .keys: false
            }
        }
    }

    /// What uses the terminal.
    struct User: Sendable {
        let terminal: DescriptorStream
        let input: Input
        /// Notes that what it has drawn no longer is where it was; with true, removes it, so that the cursor is in an empty line.
        let leave: @Sendable (_ isRemoving: Bool) -> Void
        /// Draws everything again.
        let draw: @Sendable () -> Void
    }

    private struct State: Sendable {
        var user: User?
        var isTaken = false
        /// The mode to return to; nil if it was not changed.
        var before: termios?
        var marksPaste = false
        /// Whether the foreground is waited for.
        var isWatched = false
        /// The process ends.
        var isOver = false

        var isLent: Bool { user != nil && !isTaken && !isOver }
    }

    private static let state = Locked(State())
    /// Of those that change what the terminal is used for, which wait for it and draw there.
    private static let turn = DispatchSemaphore(value: 1)
    /// How often the foreground is looked for.
    static let pace = Duration.milliseconds(200)

    /// Whether the terminal shows what its user draws.
    package static var isTaken: Bool { state.withLock(\.isTaken) }

    /// Lets the user have the terminal, now or once it is this process's; returns the one before. The user draws itself first.
    @discardableResult
    static func begin(_ user: User?, if isWanted: () -> Bool = { true }) -> User? {
        turn.wait()
        defer { turn.signal() }
        guard isWanted() else { return nil }
        restore()
        let former = state.withLock { state in
            defer { (state.user, state.isTaken) = (user, false) }
            return state.user
        }
        _ = take()
        return former
    }

    /// Gives the terminal back until `resume`.
    static func lend() {
        turn.wait()
        defer { turn.signal() }
        if !DescriptorStream.error.isInBackground { Terminal.eraseLine() }
        guard let user = lent() else { return }
        let isOurs = !user.terminal.isInBackground
        user.leave(isOurs)
        if isOurs { restore() }
    }

    /// Takes the terminal again if this process is in the foreground. A question, which nothing can be done without, stops the
    /// process in the background.
    static func resume() {
        turn.wait()
        defer { turn.signal() }
        if let user = lent() { user.leave(false) }
        if let user = take() { user.draw() }
    }

    /// Gives the terminal back for good: the process ends.
    static func end() {
        turn.wait()
        defer { turn.signal() }
        restore()
        state.withLock { $0.isOver = true }
    }

    /// Notes that the terminal is lent; returns its user if it was taken.
    private static func lent() -> User? {
        state.withLock { state in
            guard state.isTaken else { return nil }
            state.isTaken = false
            return state.user
        }
    }

    /// Sets the mode of the user, if there is one and the terminal is this process's. Returns the user then.
    private static func take() -> User? {
        guard let user = state.withLock({ $0.isLent ? $0.user : nil }) else { return nil }
        guard !user.terminal.isInBackground else {
            if user.input.isQuestion { _ = kill(0, SIGTTIN) } else { watch() }
            return nil
        }
        guard hide(user) else { return nil }
        state.withLock { $0.isTaken = true }
        if user.input == .keys {
            state.withLock { $0.marksPaste = true }
            Terminal.show("\u{1b}[?2004h")
        }
        return user
    }

    /// Returns whether the terminal has the mode of its user.
    private static func hide(_ user: User) -> Bool {
        let flags = user.input.flags
        guard flags != 0 else { return true }
        var mode = termios()
        guard unsafe tcgetattr(user.terminal.descriptor, &mode) == 0 else { return false }
        // Otherwise it is as this process has left it, when it was stopped without notice, or as it was before.
        guard mode.c_lflag & flags != 0 else { return true }
        state.withLock { [mode] in $0.before = mode }
        mode.c_lflag &= ~flags
        // What was typed before a secret was asked for is none.
        return set(mode, of: user.terminal, user.input == .secret ? TCSAFLUSH : TCSADRAIN)
    }

    /// Sets the mode that the terminal had before, also when the command is interrupted during input.
    private static func restore() {
        let (user, before, marksPaste) = state.withLock { state in
            defer { (state.before, state.marksPaste) = (nil, false) }
            return (state.user, state.before, state.marksPaste)
        }
        guard let user, !user.terminal.isInBackground else { return }
        if marksPaste { Terminal.show("\u{1b}[?2004l") }
        if let before { _ = set(before, of: user.terminal, TCSAFLUSH) }
    }

    private static func set(_ mode: termios, of terminal: DescriptorStream, _ when: Int32) -> Bool {
        SignalHandler.stoppable {
            var mode = mode
            return unsafe tcsetattr(terminal.descriptor, when, &mode) == 0
        }
    }

    /// Waits for the foreground. A shell that brings a running job there does not say so.
    private static func watch() {
        let isFirst = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard isFirst else { return }
        Task.detached {
            while state.withLock({ state in
                state.isWatched = state.isLent
                return state.isWatched
            }) {
                try? await Task.sleep(for: pace)
                resume()
            }
        }
    }
}
