import Foundation

/// The only place that prints, and that asks people.
///
/// What a script wants goes to standard output, everything else to standard error with `multipeer: ` in front.
package enum Terminal {
    /// A message for people, one line.
    static func say(_ text: String) { show("multipeer: \(text)\n") }

    /// Text for people as it is. Nobody can be told when it cannot be written.
    static func show(_ text: String) { try? Stream.error.write(Array(text.utf8)) }

    /// Text for scripts.
    static func put(_ text: String) throws(Complaint) { try put(Array(text.utf8)) }

    /// Waits until whoever reads standard output has taken everything.
    static func put(_ bytes: [UInt8]) throws(Complaint) { try Stream.output.write(bytes) }

    /// Ends the process at once: other threads may still be inside a library that would be torn down under them.
    static func leave(_ code: ExitCode) -> Never { _exit(code.rawValue) }

    /// Asks on the terminal of whoever started us, also when the standard streams are redirected; nil when there is no
    /// terminal, or its input ended.
    static func ask(_ prompt: String, isSecret: Bool = false) throws(Complaint) -> String? {
        guard let terminal = try? Stream(opening: "/dev/tty", O_RDWR) else { return nil }
        defer { terminal.close() }
        var before = termios()
        let hides = unsafe isSecret && tcgetattr(terminal.descriptor, &before) == 0
        if hides {
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO)
            _ = unsafe tcsetattr(terminal.descriptor, TCSAFLUSH, &silent)
        }
        defer { if hides { _ = unsafe tcsetattr(terminal.descriptor, TCSAFLUSH, &before) } }
        try terminal.write(Array(prompt.utf8))
        let answer = try terminal.readLine()
        if hides { try terminal.write([UInt8(ascii: "\n")]) }
        return answer
    }
}
