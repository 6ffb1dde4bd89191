/// One command of a program: what it takes, and what it does.
package protocol Subcommand: Sendable {
    static var usage: Usage { get }

    /// Returns whether words that begin with this one, which is not the name of a command, mean this command.
    static func isImplied(by word: String) -> Bool

    static func run(_ arguments: Arguments) async throws(CommandError)
}

extension Subcommand {
    package static func isImplied(by word: String) -> Bool { false }
}
