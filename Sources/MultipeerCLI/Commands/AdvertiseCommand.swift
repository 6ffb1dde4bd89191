import Foundation
import Multipeer
import MultipeerCommandLine

/// `multipeer advertise`: be found, and see who invites.
enum AdvertiseCommand: Subcommand {
    static let usage = Usage(
        ["advertise"], "announce yourself, and show who invites you",
        details: """
            Until control-c, everybody who looks for the same service type finds this peer. Whoever invites it is shown
            on standard output, and declined: a line each, with tabs between invited, declined, linked or ended, the
            id, the name, and what the inviter says, or why a link ended. With --accept the two are linked instead, and
            what the other side sends is dropped: that shows whether links work between two machines.

            Everybody on the network can read the name and what --info says.
            """,
        options: [SessionOptions.name, SessionOptions.id] + DiscoveryOptions.options + [
            .init(
                "--info", "KEY=VALUE", isRepeatable: true,
                "say this about the peer; 400 bytes for all together"),
            .init("--accept", "link with whoever invites, up to 7 at a time"),
            .init("--for", "SECONDS", "end after so long, 1 to 86400, with exit code 0"),
            .init("--json", "print a JSON object a line for each event"),
            KeyLogOption.option,
        ], exits: [.badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let options = try DiscoveryOptions(arguments)
        let peer = try SessionOptions.peer(arguments)
        let info = try info(arguments)
        let time = try arguments.number("--for", in: 1...86_400)
        let stall = try InvitationResponder(
            peer, info, options, isAccepting: arguments.has("--accept"), isJSON: arguments.has("--json"))
        SignalHandler.first { await stall.close() }
        do throws(CommandError) {
            try await stall.run(for: time.map { .seconds($0) })
        } catch {
            await stall.close()
            throw error
        }
        await stall.close()
    }

    private static func info(_ arguments: Arguments) throws(CommandError) -> DiscoveryInfo {
        var entries: [String: String] = [:]
        for text in arguments.values("--info") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2 else {
                throw arguments.commandError("option '--info' takes KEY=VALUE, not '\(text)'")
            }
            guard entries.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw arguments.commandError("option '--info': the key '\(parts[0])' was given twice")
            }
        }
        do throws(InvalidDiscoveryInfo) {
            return try DiscoveryInfo(entries)
        } catch {
            throw arguments.commandError("option '--info': \(error)")
        }
    }
}
