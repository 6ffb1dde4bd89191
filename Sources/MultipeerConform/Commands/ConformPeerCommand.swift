import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform peer`: the suite's reference peer, optionally with a fault.
enum ConformPeerCommand: Subcommand {
    static let usage = Usage(
        ["peer"], "run the built-in reference peer, optionally with a fault",
        details: """
            A second, small implementation of MPC/1 that speaks the shim protocol on standard input and output, like
            'multipeer-conform shim'. 'selftest' runs it with each of its faults, to check that the suite finds them.
            """,
        options: [
            .init("--bug", "NAME", words: Bug.allCases.map(\.rawValue), "enable this fault"),
            .init("--bugs", "list the faults and exit"),
        ], exits: [.system])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        if arguments.has("--bugs") {
            return try Terminal.put(Bug.allCases.map { $0.rawValue + "\n" }.joined())
        }
        var bug: Bug?
        if let name = arguments.value("--bug") {
            guard let found = Bug(rawValue: name) else {
                throw arguments.commandError("unknown fault '\(name.printable)'")
            }
            bug = found
        }
        let code = try await Worker("peer").run { [bug] () throws(CommandError) in ReferencePeer.run(bug: bug)
        }
        guard code == 0 else { throw CommandError("the reference peer failed", exit: .system) }
    }
}
