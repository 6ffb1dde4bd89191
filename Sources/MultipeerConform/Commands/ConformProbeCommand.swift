import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform probe`: judges a peer over the network, which has no shim.
enum ConformProbeCommand: Subcommand {
    static let usage = Usage(
        ["probe"], operands: "ADDRESS [IDS|GLOBS…]", mostOperands: 1_001,
        "test a running peer over the network, without a shim",
        examples: """
              while sleep 0.1; do multipeer link -yu --listen 127.0.0.1 < /dev/null; done
              multipeer-conform probe 127.0.0.1
            """,
        details: """
            Each case invites the peer at ADDRESS, which must accept without asking, makes links with the connection data that it
            gets, and judges what it sees on the wire: handshake and frames. Afterwards the peer must still link.

            Whatever needs control of the peer is not judged, and not counted as passed: its messages, limits and errors,
            and all levels but core. 'multipeer-conform run' judges them through a shim.

            ADDRESS is an address of IPv4 or IPv6 with the port for invitations, such as [2001:db8::1]:4000; default: 4761. A
            link-local one names its interface: fe80::1%eth0. The peer links with one peer after the other, or is started
            again: the suite waits for it.
            """,
        options: ConformCommand.choosing + [
            .init("--strict", "also require what the specification only recommends"),
            .init("--seed", "N", "random seed; default: random"),
            OutsideCommand.context,
        ] + ReportFiles.options,
        common: ["--section", "--quick", "--strict", "--seed", "--json", "--html", "--tap", "--progress"],
        exits: ConformCommand.exits, meanings: ConformCommand.meanings)

    static func run(_ arguments: Arguments) async throws(CommandError) {
        guard let word = arguments.operands.first else { throw arguments.commandError("ADDRESS is required") }
        let target = try OutsideCommand.target(word, arguments)
        let selection = try ConformCommand.selection(arguments, words: Array(arguments.operands.dropFirst()))
        if let word = selection.unknown.first {
            throw arguments.commandError("unknown case '\(word.printable)'")
        }
        let seed = try ConformCommand.seed(arguments)
        let peer = try await examine(target)
        Terminal.say("testing \(peer.name.printable) at \(target.text)")
        var plan = OutsideProbe.plan(
            peer, at: target, program: "'\(ChildProcess.ownPath)'", cases: selection.cases, seed: seed)
        plan.isStrict = arguments.has("--strict")
        guard !plan.cases.isEmpty else { throw arguments.commandError("no matching case") }
        let files = ReportFiles(arguments)
        let report = try await ConformCommand.report(plan, isTold: arguments.has("--progress"))
        try Terminal.put(report.text)
        try files.write(report)
        try ConformCommand.judge(report)
    }

    private static func examine(_ target: OutsidePeer.Address) async throws(CommandError) -> OutsidePeer {
        let result = try await Worker("probe").run { () throws(CommandError) in
            Result { try OutsideProbe.examine(target) }.mapError { error in
                let exit: ExitCode = error is OutsideProbe.NotLinked ? .linkFailed : .badInput
                return CommandError("\(error)".printable, exit: exit)
            }
        }
        return try result.get()
    }
}

/// What 'probe' and its shim have in common.
enum OutsideCommand {
    static let context = Usage.Option(
        "--context", "TEXT", "what the invitations are for; default: link, which 'multipeer link' accepts")

    static func target(_ address: String, _ arguments: Arguments) throws(CommandError) -> OutsidePeer.Address
    {
        guard var target = OutsidePeer.Address(address) else {
            throw arguments.commandError(
                "'\(address)' is no address, such as 192.0.2.1, 192.0.2.1:4000 or [2001:db8::1]:4000"
                    .printable)
        }
        if let text = arguments.value(context.name) { target.context = text }
        return target
    }
}
