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
        let text = knownWidth.map { Columns.broken(text, width: $0) } ?? text
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
    /// there. A question stays, and so does the line of another program in the foreground.
    package static func rewriteLine(_ text: String) {
        if DescriptorStream.error.isInBackground { return }
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
    package static var knownWidth: Int? { knownSize(of: DescriptorStream.error)?.width }

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
        TerminalHold.end()
        _exit(status)
    }

    /// Asks on the controlling terminal, even if the standard streams are redirected. Anything that was typed before the question
    /// is discarded, as it cannot be an answer, unless the question continues the one before.
    ///
    /// Throws when nothing can be asked, or the input ends: that is no answer. In the background the process is stopped, and the
    /// question is shown again in the foreground. When the question is cancelled, the line that it stands on is ended, and the
    /// answer is nil.
    package static func ask(
        _ prompt: String, isSecret: Bool = false, discardsInput: Bool = true,
        unless cancellation: Cancellation? = nil
    ) throws(CommandError) -> String? {
        let terminal = try controlling()
        defer { terminal.close() }
        try terminal.comeToForeground()
        let former = TerminalHold.begin(user(prompt, on: terminal, isSecret: isSecret))
        defer { TerminalHold.begin(former) }
        // Each question opens the terminal anew and reads it byte by byte, so that the kernel has all unread input.
        if discardsInput { SignalHandler.stoppable { _ = tcflush(terminal.descriptor, TCIFLUSH) } }
        eraseLine()
        lastLine.withLock { $0 = .question }
        var answer: String?
        do throws(CommandError) {
            try terminal.write(Array(prompt.utf8))
            answer = try terminal.readLine(isWhole: true, unless: cancellation)
        } catch {
            endQuestion(on: terminal)
            throw error
        }
        if answer == nil || isSecret { endQuestion(on: terminal) }
        lastLine.withLock { $0 = .finished }
        guard answer != nil || cancellation?.isCancelled == true else {
            throw CommandError("the terminal's input ended before an answer", exit: .badInput)
        }
        return answer
    }

    private static func user(
        _ prompt: String, on terminal: DescriptorStream, isSecret: Bool
    ) -> TerminalHold.User {
        TerminalHold.User(terminal: terminal, input: isSecret ? .secret : .line) { isRemoving in
            if isRemoving { endQuestion(on: terminal) }
        } draw: {
            lastLine.withLock { last in
                last = .question
                try? terminal.write(Array(prompt.utf8))
            }
        }
    }

    /// Ends the line of a question. What was said meanwhile has ended it, too.
    private static func endQuestion(on terminal: DescriptorStream) {
        lastLine.withLock { last in
            guard last == .question else { return }
            last = .finished
            // A terminal that is gone needs no line end.
            try? terminal.write([UInt8(ascii: "\n")])
        }
    }

    /// Whether there is a terminal to ask on.
    package static var isThere: Bool {
        guard let terminal = try? DescriptorStream(opening: "/dev/tty", O_RDWR) else { return false }
        terminal.close()
        return true
    }

    /// Throws in the background of the terminal, where `ask` would stop the process: for a command that has work for others.
    package static func checkForeground() throws(CommandError) {
        let terminal = try controlling()
        defer { terminal.close() }
        guard terminal.isInBackground else { return }
        throw CommandError(
            "there is no terminal to ask on: the command is in the background",
            hint: "bring it to the foreground",
            exit: .system)
    }

    private static func controlling() throws(CommandError) -> DescriptorStream {
        do throws(CommandError) { return try DescriptorStream(opening: "/dev/tty", O_RDWR) } catch {
            throw CommandError("there is no terminal to ask on: \(error.text)", exit: .system)
        }
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
    /// end of what is pasted, until `tellLines` or the end of the process: whenever this process is in the foreground. Does nothing
    /// if it is no longer wanted.
    ///
    /// `leave` notes that what was drawn no longer is where it was; with true, it removes it, so that the cursor is in an empty
    /// line. `draw` draws everything again. The first time the caller does that, if `TerminalHold.isTaken`.
    package static func tellEveryKey(
        if isWanted: () -> Bool = { true }, leave: @escaping @Sendable (_ isRemoving: Bool) -> Void,
        draw: @escaping @Sendable () -> Void
    ) {
        let user = TerminalHold.User(terminal: .input, input: .keys, leave: leave, draw: draw)
        TerminalHold.begin(user, if: isWanted)
    }

    /// Ends `tellEveryKey`: lines are read and shown again.
    package static func tellLines() { TerminalHold.begin(nil) }
}
