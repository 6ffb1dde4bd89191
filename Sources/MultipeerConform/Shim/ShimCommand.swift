import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform shim`: this library as the subject of a conformance test, driven by JSON lines.
enum ShimCommand: Subcommand {
    static let usage = Usage(
        ["shim"], "control the library with JSON lines, for conformance tests",
        details: """
            Each line of standard input is a request, for example {"id":1,"op":"session","name":"ann"}, and is answered
            by one line with its id: {"re":1,"ok":true,...}, {"re":1,"error":"PROTOCOL","reason":"..."}, or
            {"re":1,"unimplemented":true}. Lines with "event" report events. Everything stays on the loopback interface.
            The end of standard input closes the sessions gracefully, and ends the process.

            With --to it is not the library that is tested, but the peer at an address: see 'multipeer-conform probe'.
            """,
        options: [
            .init(
                "--to", "ADDRESS",
                "test a peer that accepts invitations at this IPv4 address, with connection data alone"),
            .init("--known", "PEER", "uid, preference and addresses of that peer; 'probe' adds it"),
            OutsideCommand.context,
        ],
        exits: [.system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        if let address = arguments.value("--to") {
            let target = try OutsideCommand.target(address, arguments)
            guard let peer = arguments.value("--known").flatMap({ OutsidePeer($0) }) else {
                throw arguments.commandError("--to needs --known PEER, which 'probe' adds")
            }
            return try await Worker("outside").run { () throws(CommandError) in OutsideShim.run(target, peer)
            }
        }
        let shim = await Shim()
        SignalHandler.first { await shim.leave() }
        try await shim.run()
    }
}
