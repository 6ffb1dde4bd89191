package import MultipeerEssentials

/// The only place that prints, and that asks the user.
///
/// Output for scripts goes to standard output, everything else to standard error; what went wrong stands after the name of the
/// program.
package enum Terminal {
    /// The name of the program, which precedes its errors and is part of its help.
    package static let program = Locked("multipeer")

    package static var name: String { program.withLock(\.self) }

    /// Writes a message to standard error, one line; a terminal whose width is known gets as many as it needs, broken at spaces.
    package static func say(_ text: String) {
        let text = errorWidth.map { Columns.broken(text, width: $0) } ?? text
        lastLine.withLock { last in
            let start =
                switch last {
                case .finished: ""
                case .question: "\n"
                case .rewritten: erasure
                }
            last = .finished
            show("\(start)\(text)\n")
        }
    }

    /// Rewrites the last line of a terminal with escape sequences, such as one that shows progress, until something else is shown
    /// there. A question stays.
    package static func rewriteLine(_ text: String) {
        lastLine.withLock { last in
            guard last != .question else { return }
            last = .rewritten
            show("\r\(text)\u{1b}[K")
        }
    }

    /// Removes the line that is rewritten.
    package static func eraseLine() {
        lastLine.withLock { last in
            guard last == .rewritten else { return }
            last = .finished
            show(erasure)
        }
    }

    /// The terminal's last line, which a message must not continue.
    private enum LastLine { case finished, question, rewritten }

    private static let lastLine = Locked(LastLine.finished)
    private static let erasure = "\r\u{1b}[K"

    /// Writes an error or a warning to standard error, one line, after the name of the program.
    package static func warn(_ text: String) { say("\(name): \(text)") }

    /// Shows text as it is; on a terminal that shows only ASCII, the rest escaped. Errors are ignored, since there is no place to
    /// report them.
    package static func show(_ text: String) {
        let text = isErrorASCII ? text.asASCII : text
        try? DescriptorStream.error.write(Array(text.utf8))
    }

    /// The number of columns of the terminal on standard error.
    package static var width: Int { size(of: DescriptorStream.error).width }

    /// The same if it is known.
    private static var errorWidth: Int? { knownSize(of: DescriptorStream.error)?.width }

    /// Returns the number of columns and lines of the terminal on a stream.
    package static func size(of stream: DescriptorStream) -> (width: Int, height: Int) {
        knownSize(of: stream) ?? (80, 24)
    }

    private static func knownSize(of stream: DescriptorStream) -> (width: Int, height: Int)? {
        var size = winsize()
        let isKnown = unsafe ioctl(stream.descriptor, UInt(TIOCGWINSZ), &size) == 0
        guard isKnown, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Returns whether a stream is a terminal with escape sequences.
    package static func hasScreen(_ stream: DescriptorStream) -> Bool {
        let kind = Environment.value("TERM") ?? ""
        return stream.isTerminal && !["", "dumb"].contains(kind)
    }

    /// Prints text for scripts; on a terminal that shows only ASCII, the rest escaped.
    package static func put(_ text: String) throws(CommandError) {
        try put(Array((isOutputASCII ? text.asASCII : text).utf8))
    }

    private static let isErrorASCII = DescriptorStream.error.isTerminal && !OutputEncoding.isUTF8
    private static let isOutputASCII = DescriptorStream.output.isTerminal && !OutputEncoding.isUTF8

    /// Writes all bytes to standard output; waits until they are written.
    package static func put(_ bytes: [UInt8]) throws(CommandError) {
        try DescriptorStream.output.write(bytes)
    }

    /// Exits the process immediately: other threads may still use a library whose teardown would crash them.
    package static func leave(_ code: ExitCode) -> Never { leave(status: code.rawValue) }

    /// Exits the process immediately with a status that a signal determines.
    static func leave(status: Int32) -> Never {
        showTyping()
        _exit(status)
    }

    /// Asks on the controlling terminal, even if the standard streams are redirected; returns nil without a terminal, and at
    /// the end of its input. Anything that was typed before the question is discarded, as it
    /// cannot be an answer, unless the question continues the one before.
    /// When the question is cancelled, the line that it stands on is ended, and the answer is nil.
    package static func ask(
        _ prompt: String, isSecret: Bool = false, discardsInput: Bool = true,
        unless cancellation: Cancellation? = nil
    ) throws(CommandError) -> String? {
        guard let terminal = try? DescriptorStream(opening: "/dev/tty", O_RDWR) else { return nil }
        defer { terminal.close() }
        if isSecret { hideTyping(on: terminal) }
        defer { if isSecret { showTyping() } }
        // Each question opens the terminal anew and reads it byte by byte, so that the kernel has all unread input.
        if discardsInput { _ = tcflush(terminal.descriptor, TCIFLUSH) }
        eraseLine()
        lastLine.withLock { $0 = .question }
        defer { lastLine.withLock { $0 = .finished } }
        try terminal.write(Array(prompt.utf8))
        let answer = try terminal.readLine(unless: cancellation)
        guard isSecret || (answer == nil && cancellation != nil) else { return answer }
        try lastLine.withLock { last throws(CommandError) in
            // What was said meanwhile has ended the line.
            guard last == .question else { return }
            last = .finished
            try terminal.write([UInt8(ascii: "\n")])
        }
        return answer
    }

    /// Whether there is a terminal to ask on.
    package static var isThere: Bool {
        guard let terminal = try? DescriptorStream(opening: "/dev/tty", O_RDWR) else { return false }
        terminal.close()
        return true
    }

    /// Whether there is a terminal to ask on, and this process is not in its background, where it would be stopped for reading.
    package static var isForeground: Bool {
        guard let terminal = try? DescriptorStream(opening: "/dev/tty", O_RDWR) else { return false }
        defer { terminal.close() }
        let foreground = tcgetpgrp(terminal.descriptor)
        return foreground < 0 || foreground == getpgrp()
    }

    /// Returns whether an answer to a question with `[y/N]` means yes.
    package static func isYes(_ answer: String?) -> Bool {
        isOne(of: ["y", "yes"], answer)
    }

    /// Returns whether an answer to a question whose default is another one means no.
    package static func isNo(_ answer: String?) -> Bool { isOne(of: ["n", "no"], answer) }

    /// Returns whether an answer is one of these words, in upper or lower case, with or without spaces around it.
    package static func isOne(of words: [String], _ answer: String?) -> Bool {
        guard let answer else { return false }
        return words.contains(answer.lowercased().withoutSpacesAround)
    }

    /// Sets standard input, if it is a terminal, to pass on every key at once and echo none, and to mark the beginning and the
    /// end of what is pasted, until the process ends. Returns false without a terminal.
    package static func tellEveryKey() -> Bool {
        var mode = termios()
        guard unsafe tcgetattr(DescriptorStream.input.descriptor, &mode) == 0 else { return false }
        hidden.withLock { [mode] in $0 = (DescriptorStream.input, mode, marksPaste: true) }
        mode.c_lflag &= ~tcflag_t(ECHO | ICANON)
        guard unsafe tcsetattr(DescriptorStream.input.descriptor, TCSADRAIN, &mode) == 0 else { return false }
        show("\u{1b}[?2004h")
        return true
    }

    /// Ends `tellEveryKey`: lines are read and shown again.
    package static func tellLines() { showTyping() }

    /// The terminal's mode before its echo was turned off.
    private static let hidden = Locked<(terminal: DescriptorStream, before: termios, marksPaste: Bool)?>(nil)

    private static func hideTyping(on terminal: DescriptorStream) {
        var mode = termios()
        guard unsafe tcgetattr(terminal.descriptor, &mode) == 0 else { return }
        hidden.withLock { [mode] in $0 = (terminal, mode, marksPaste: false) }
        mode.c_lflag &= ~tcflag_t(ECHO)
        _ = unsafe tcsetattr(terminal.descriptor, TCSAFLUSH, &mode)
    }

    /// Restores the terminal's mode, also when the command is interrupted during input.
    private static func showTyping() {
        guard
            let (terminal, before, marksPaste) = hidden.withLock({ hidden in
                defer { hidden = nil }
                return hidden
            })
        else { return }
        if marksPaste { show("\u{1b}[?2004l") }
        var mode = before
        _ = unsafe tcsetattr(terminal.descriptor, TCSAFLUSH, &mode)
    }
}
