import Foundation
import Multipeer
import MultipeerCommandLine

/// `multipeer invite`: choose whom to be connected with, or be asked who may.
enum InviteCommand: Subcommand {
    static let usage = Usage(
        ["invite"], "choose whom to invite, or with --wait be asked who may come in",
        details: """
            Shows who announces the same service type, each with a number, and takes lines: a number or a name invites
            that peer; 'list' shows everybody; 'done' ends when enough are connected, 'cancel' ends without. On a terminal
            this is for people. In a pipe each event is a line with tabs between found, invited, connected, notConnected
            or lost, the number, the id, the name and what the peer says about itself; the end of the input is a 'done'
            if enough are connected, otherwise a 'cancel'.

            With --wait it is the other side: it announces this peer and asks on the terminal about each invitation; who
            is let in, and who leaves, is a line. Where there is no terminal everybody is declined.

            Both show what the classes with Apple's names have for it, and work with every program that uses these.
            What the others send is dropped, and the connections end with the command.
            """,
        options: [SessionOptions.name, SessionOptions.id] + DiscoveryOptions.options + [
            .init("--min", "COUNT", "peers, with this one, before 'done' ends, 2 to 8; default: 2"),
            .init("--max", "COUNT", "peers at the most, with this one, 2 to 8; default: 8"),
            .init("--preference", "WORD", "encryption: required (default), optional or none"),
            .init("--wait", "be invited instead"),
            .init(
                "--for", "SECONDS",
                "end after so long, 1 to 86400, like 'cancel', or with --wait with exit code 0"),
            KeyLogOption.option,
        ], exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let options = try DiscoveryOptions(arguments)
        let connectivity = try ConnectivitySession(arguments, options)
        let time = try arguments.number("--for", in: 1...86_400).map { Duration.seconds($0) }
        let counts = (
            least: try arguments.number("--min", in: 2...8), most: try arguments.number("--max", in: 2...8)
        )
        if arguments.has("--wait") {
            if counts.least != nil || counts.most != nil {
                throw arguments.commandError("--wait excludes --min and --max")
            }
            let lobby = InviteAssistant(connectivity, options)
            SignalHandler.first { await lobby.leave() }
            return try await lobby.run(for: time)
        }
        if let least = counts.least, let most = counts.most, least > most {
            throw arguments.commandError("option '--min' takes no more than '--max'")
        }
        SignalHandler.first { await connectivity.leave() }
        let chooser = await InviteBrowser(
            connectivity, options, least: counts.least ?? 2, most: counts.most ?? 8)
        try await chooser.run(for: time)
    }
}
