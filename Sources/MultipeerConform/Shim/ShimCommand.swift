import Multipeer
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
            """,
        exits: [.system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let shim = await Shim()
        SignalHandler.first { await shim.leave() }
        try await shim.run()
    }
}
