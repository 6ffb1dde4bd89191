import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer invite`: lets the user invite peers, or answer invitations.
enum InviteCommand: Subcommand {
    static let usage = Usage(
        ["invite"], "choose peers to invite, or with --wait answer invitations",
        details: """
            Shows peers that advertise the same service type, each with a number, and reads lines: a number or a name
            invites that peer; 'list' lists all peers; 'done' ends if enough peers are connected; 'cancel' gives up.
            On a terminal the output is for people. In a pipe each event is a line with tab-separated fields: found,
            invited, connected, notConnected or lost; the number; the id; the name; the peer's info. End of input is
            'done' if enough peers are connected, otherwise 'cancel'.

            With --wait, advertises this peer and asks on the terminal about each invitation; prints a line for each
            peer that connects or leaves. Without a terminal, all invitations are declined.

            Both work with every program that uses the classes with Apple's names. Received data is dropped, and the
            connections end with the command.
            """,
        options: [PeerOptions.name, PeerOptions.id] + DiscoveryOptions.options + [
            .init("--min", "COUNT", "peers required for 'done', including this one, 2 to 8; default: 2"),
            .init("--max", "COUNT", "maximum number of peers, including this one, 2 to 8; default: 8"),
            .init(
                "--preference", "WORD", words: ["required", "optional", "none"],
                "encryption: required (default), optional or none"),
            .init("--wait", "wait to be invited"),
            .init(
                "--for", "SECONDS",
                "stop after SECONDS, 1 to 86400, like 'cancel', or with --wait with exit code 0"),
            PortOption.option, KeyLogOption.option,
        ], exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let options = try DiscoveryOptions(arguments)
        let own = try InviteSession(arguments, options)
        let time = try arguments.number("--for", in: 1...86_400).map { Duration.seconds($0) }
        let counts = (
            least: try arguments.number("--min", in: 2...8), most: try arguments.number("--max", in: 2...8)
        )
        if arguments.has("--wait") {
            if counts.least != nil || counts.most != nil {
                throw arguments.commandError("--wait cannot be used with --min or --max")
            }
            let lobby = InviteAssistant(own, options)
            SignalHandler.first { await lobby.leave() }
            return try await lobby.run(for: time)
        }
        if let least = counts.least, let most = counts.most, least > most {
            throw arguments.commandError("--min must not be greater than --max")
        }
        SignalHandler.first { await own.leave() }
        let chooser = InviteBrowser(
            own, options, least: counts.least ?? 2, most: counts.most ?? 8)
        try await chooser.run(for: time)
    }
}
