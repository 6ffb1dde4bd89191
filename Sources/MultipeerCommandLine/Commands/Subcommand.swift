/// One command of a program: what it takes, and what it does.
package protocol Subcommand: Sendable {
    static var usage: Usage { get }

    /// Returns whether words that do not begin with the name of a command mean this command.
    static func isImplied(by words: [String]) -> Bool

    static func run(_ arguments: Arguments) async throws(CommandError)
}

extension Subcommand {
    package static func isImplied(by words: [String]) -> Bool { false }
}
