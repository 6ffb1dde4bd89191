import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer advertise`: advertises a peer and shows invitations.
enum AdvertiseCommand: Subcommand {
    static let usage = Usage(
        ["advertise"], "advertise this peer and show invitations",
        details: """
            Advertises this peer until Ctrl-C to all peers that browse for the same service type. Invitations are
            declined, and printed to standard output: a line per event, with tab-separated fields: invited, declined,
            linked or ended; the id; the name; the inviter's context, or why a link ended; and "contested" if another
            peer has sent an invitation with the same id at that time. With --accept, invitations are accepted and
            received data is dropped: use it to test links between two machines.

            Everyone on the network can read the name and --info.
            """,
        options: [PeerOptions.name, PeerOptions.id] + DiscoveryOptions.options + [
            .init(
                "--info", "KEY=VALUE", isRepeatable: true,
                "publish this about the peer; at most 1,222 bytes in total"),
            PortOption.option,
            .init("--accept", "accept invitations, up to 7 peers at a time"),
            .init("--for", "SECONDS", "stop after SECONDS, 1 to 86400, with exit code 0"),
            .init("--json", "print one JSON object per line and event"),
            KeyLogOption.option,
        ], exits: [.badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let options = try DiscoveryOptions(arguments)
        let own = try PeerOptions(arguments)
        let info = try info(arguments)
        let time = try arguments.number("--for", in: 1...86_400)
        let stall = try InvitationResponder(
            own, info, options, PortOption.port(arguments), isAccepting: arguments.has("--accept"),
            isJSON: arguments.has("--json"))
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
            let parts = text.pieces(at: "=", atMost: 2, keepingEmpty: true).map(
                String.init)
            guard parts.count == 2 else {
                throw arguments.commandError("option '--info' takes KEY=VALUE, not '\(text)'")
            }
            guard entries.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw arguments.commandError("option '--info': the key '\(parts[0])' was given twice")
            }
        }
        do throws(MultipeerError) {
            return try DiscoveryInfo(entries)
        } catch {
            throw arguments.commandError("option '--info': \(error)")
        }
    }
}
