/// Why the command failed: one line, a hint, and the exit code.
package struct CommandError: Error, Equatable, Sendable {
    package let text: String
    /// What to try instead.
    package let hint: String?
    package let exit: ExitCode

    package init(_ text: String, hint: String? = nil, exit: ExitCode) {
        self.text = text
        self.hint = hint
        self.exit = exit
    }

    package static func usage(_ text: String, try command: String) -> CommandError {
        CommandError(text, hint: "try '\(command) --help'", exit: .usage)
    }
}

extension CommandError: CustomStringConvertible {
    package var description: String { text + (hint.map { " (\($0))" } ?? "") }
}
