/// One command of a program: what it takes, and what it does.
package protocol Subcommand: Sendable {
    static var usage: Usage { get }

    static func run(_ arguments: Arguments) async throws(CommandError)
}
