import Foundation
package import Multipeer

/// The only place that prints, and that asks people.
///
/// What a script wants goes to standard output, everything else to standard error with the name of the program in front.
package enum Terminal {
    /// The name of the program, in front of its messages and in its help.
    package static let program = Locked("multipeer")

    /// A message for people, one line.
    package static func say(_ text: String) { show("\(name): \(text)\n") }

    package static var name: String { program.withLock(\.self) }

    /// Text for people as it is. Nobody can be told when it cannot be written.
    package static func show(_ text: String) { try? DescriptorStream.error.write(Array(text.utf8)) }

    /// How many columns the terminal behind standard error has.
    package static var width: Int { size(of: DescriptorStream.error).width }

    /// How many columns and lines the terminal behind a stream has.
    package static func size(of stream: DescriptorStream) -> (width: Int, height: Int) {
        var size = winsize()
        let isKnown = unsafe ioctl(stream.descriptor, UInt(TIOCGWINSZ), &size) == 0
        guard isKnown, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether a stream leads to a terminal that knows escape sequences.
    package static func hasScreen(_ stream: DescriptorStream) -> Bool {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return stream.isTerminal && !["", "dumb"].contains(kind)
    }

    /// Text for scripts.
    package static func put(_ text: String) throws(CommandError) { try put(Array(text.utf8)) }

    /// Waits until whoever reads standard output has taken everything.
    package static func put(_ bytes: [UInt8]) throws(CommandError) {
        try DescriptorStream.output.write(bytes)
    }

    /// Ends the process at once: other threads may still be inside a library that would be torn down under them.
    package static func leave(_ code: ExitCode) -> Never {
        showTyping()
        _exit(code.rawValue)
    }

    /// Asks on the terminal of whoever started us, also when the standard streams are redirected; nil when there is no
    /// terminal, or its input ended.
    package static func ask(_ prompt: String, isSecret: Bool = false) throws(CommandError) -> String? {
        guard let terminal = try? DescriptorStream(opening: "/dev/tty", O_RDWR) else { return nil }
        defer { terminal.close() }
        if isSecret { hideTyping(on: terminal) }
        defer { if isSecret { showTyping() } }
        try terminal.write(Array(prompt.utf8))
        let answer = try terminal.readLine()
        if isSecret { try terminal.write([UInt8(ascii: "\n")]) }
        return answer
    }

    /// Whether somebody can be asked.
    package static var isThere: Bool {
        guard let terminal = try? DescriptorStream(opening: "/dev/tty", O_RDWR) else { return false }
        terminal.close()
        return true
    }

    /// Whether an answer to a question with `[y/N]` means yes.
    package static func isYes(_ answer: String?) -> Bool {
        ["y", "yes"].contains(answer?.lowercased().trimmingCharacters(in: .whitespaces))
    }

    /// Makes standard input, when it is a terminal, tell every key at once and show none of them; until the process
    /// ends. False when there is no terminal.
    package static func tellEveryKey() -> Bool {
        var mode = termios()
        guard unsafe tcgetattr(DescriptorStream.input.descriptor, &mode) == 0 else { return false }
        hidden.withLock { [mode] in $0 = (DescriptorStream.input, mode) }
        mode.c_lflag &= ~tcflag_t(ECHO | ICANON)
        return unsafe tcsetattr(DescriptorStream.input.descriptor, TCSADRAIN, &mode) == 0
    }

    /// How the terminal was before it was told to show nothing of what is typed.
    private static let hidden = Locked<(terminal: DescriptorStream, before: termios)?>(nil)

    private static func hideTyping(on terminal: DescriptorStream) {
        var mode = termios()
        guard unsafe tcgetattr(terminal.descriptor, &mode) == 0 else { return }
        hidden.withLock { [mode] in $0 = (terminal, mode) }
        mode.c_lflag &= ~tcflag_t(ECHO)
        _ = unsafe tcsetattr(terminal.descriptor, TCSAFLUSH, &mode)
    }

    /// Also when the command is interrupted while somebody types.
    private static func showTyping() {
        guard
            let (terminal, before) = hidden.withLock({ hidden in
                defer { hidden = nil }
                return hidden
            })
        else { return }
        var mode = before
        _ = unsafe tcsetattr(terminal.descriptor, TCSAFLUSH, &mode)
    }
}
