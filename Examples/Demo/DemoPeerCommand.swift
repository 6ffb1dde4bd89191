import Multipeer
import MultipeerCommandLine

/// `multipeer-demo peer`: one of the processes that `multipeer-demo` starts. It takes orders on standard input, and ends
/// when that does: nobody is left behind when the demonstration is killed.
enum DemoPeerCommand: Subcommand {
    static let usage = Usage(
        ["peer"], "a peer of 'multipeer-demo', which gives it orders on standard input",
        options: [
            .init("--mesh", "be introduced to everybody, too"),
            .init("--cap", "N", "how many peers a mesh may have, 2 to 16; default: 8"),
        ] + DiscoveryOptions.options + SessionOptions.options,
        exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let options = try SessionOptions(arguments)
        var configuration = options.configuration
        if let cap = try arguments.number("--cap", in: 2...16) { configuration.peers = cap }
        configuration.topology = arguments.has("--mesh") ? .mesh : .star
        let actor = try DemoParticipant(options.peer, configuration, DiscoveryOptions(arguments))
        try await actor.run()
    }
}
