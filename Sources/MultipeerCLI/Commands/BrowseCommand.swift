import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer browse`: shows the advertised peers.
enum BrowseCommand: Subcommand {
    static let usage = Usage(
        ["browse"], "show advertised peers",
        details: """
            On a terminal, shows a live table. In a pipe, and on a terminal without escape sequences, prints a line per
            event with tab-separated fields: found, updated or lost; the id; the name; the peer's info; and with
            --resolve its addresses. All peers are unverified: found on the network. With --json each line says so. The
            kind of an id is "keyed" if it is the hash of a key: then only a peer that has the key can be linked under
            that id. Any peer can use a random one.

            Ctrl-C ends it. Browsing does not advertise this peer.
            """,
        options: DiscoveryOptions.options + [
            .init("--resolve", "also resolve addresses"),
            .init("--for", "SECONDS", "stop after SECONDS, 1 to 86400, with exit code 0"),
            .init("--json", "print one JSON object per line and event"),
        ], exits: [.system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let options = try DiscoveryOptions(arguments)
        let time = try arguments.number("--for", in: 1...86_400)
        let style: BrowsePrinter.Style =
            arguments.has("--json") ? .json : Terminal.hasScreen(DescriptorStream.output) ? .table : .lines
        let lookout = try BrowsePrinter(options, style, isResolving: arguments.has("--resolve"))
        SignalHandler.first { await lookout.end() }
        do throws(CommandError) {
            try await lookout.run(for: time.map { .seconds($0) })
        } catch {
            await lookout.end()
            throw error
        }
        await lookout.end()
    }
}
