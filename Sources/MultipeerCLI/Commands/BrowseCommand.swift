import Foundation
import Multipeer
import MultipeerCommandLine

/// `multipeer browse`: who announces themselves.
enum BrowseCommand: Subcommand {
    static let usage = Usage(
        ["browse"], "show who announces themselves",
        details: """
            On a terminal this is a table that follows what happens. In a pipe, and on a terminal without escape
            sequences, it is a line for each event, with tabs between found, updated or lost, the id, the name, what
            the peer says about itself, and with --resolve its addresses. The names are what others call themselves:
            nothing of this is proved before a link stands.

            Control-c ends it. Those who only look are not seen by others.
            """,
        options: DiscoveryOptions.options + [
            .init("--resolve", "ask for the addresses, too"),
            .init("--for", "SECONDS", "end after so long, 1 to 86400, with exit code 0"),
            .init("--json", "print a JSON object a line for each event"),
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
