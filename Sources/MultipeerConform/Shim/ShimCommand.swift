import Multipeer
import MultipeerCommandLine

/// `multipeer-conform shim`: this library as the subject of a conformance test, driven by JSON lines.
enum ShimCommand: Subcommand {
    static let usage = Usage(
        ["shim"], "do what lines of JSON on standard input say: the subject of a conformance test",
        details: """
            Each line is a request, for example {"id":1,"op":"session","name":"ann"}, and is answered by one line
            that says to which: {"re":1,"ok":true,...}, {"re":1,"error":"PROTOCOL","reason":"..."}, or
            {"re":1,"unimplemented":true}. Lines with "event" tell what happened meanwhile. Everything stays on the
            loopback interface. The end of standard input ends the sessions, with a goodbye, and the process.
            """,
        exits: [.system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let shim = await Shim()
        SignalHandler.first { await shim.leave() }
        try await shim.run()
    }
}
