import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform peer`: the suite's own peer, and what it can do wrong.
enum ConformPeerCommand: Subcommand {
    static let usage = Usage(
        ["peer"], "be a peer that speaks the shim protocol, with a fault if one is named",
        details: """
            A second, small implementation of MPC/1 on standard input and output, as 'multipeer-conform shim' is. 'conform
            selftest' runs it with each of its faults to see that the suite finds them.
            """,
        options: [
            .init("--bug", "NAME", "have this fault"),
            .init("--bugs", "list the faults and end"),
        ], exits: [.system])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        if arguments.has("--bugs") {
            return try Terminal.put(Bug.allCases.map { $0.rawValue + "\n" }.joined())
        }
        var bug: Bug?
        if let name = arguments.value("--bug") {
            guard let found = Bug(rawValue: name) else {
                throw arguments.commandError("there is no fault '\(name.printable)'")
            }
            bug = found
        }
        let code = try await Worker("peer").run { [bug] () throws(CommandError) in ReferencePeer.run(bug: bug)
        }
        guard code == 0 else { throw CommandError("the peer failed", exit: .system) }
    }
}
