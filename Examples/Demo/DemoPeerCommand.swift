import Multipeer
import MultipeerCommandLine

/// `multipeer-demo peer`: one of the processes that `multipeer-demo` starts. It takes orders on standard input, and exits at
/// its end: no process is left running when the demonstration is killed.
enum DemoPeerCommand: Subcommand {
    static let usage = Usage(
        ["peer"], "a peer of 'multipeer-demo', which controls it over standard input",
        options: [
            .init("--mesh", "join a mesh"),
            .init("--cap", "N", "mesh size, 2 to 16; default: 8"),
        ] + DiscoveryOptions.options + SessionOptions.options,
        exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let options = try SessionOptions(arguments)
        var configuration = options.configuration
        if let cap = try arguments.number("--cap", in: 2...16) { configuration.maximumPeers = cap }
        configuration.topology = arguments.has("--mesh") ? .mesh : .star
        let actor = try DemoParticipant(options.peer, configuration, DiscoveryOptions(arguments))
        try await actor.run()
    }
}
