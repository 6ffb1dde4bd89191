import Multipeer
import MultipeerCommandLine

/// `multipeer link`: a secure netcat, and a chat when people are at both ends.
enum LinkCommand: Subcommand {
    static let usage = Usage(
        ["link"], operands: "[DATA]", mostOperands: 1, "link with one peer: a secure netcat and chat",
        details: """
            Both sides run this command and swap their connection data, one line of base64, by a way that both trust:
            it holds a secret. Without DATA, --data and --from, the other side's data is asked for on the terminal,
            or is the first line of standard input where there is no terminal.

            Then standard input goes to the peer, and what the peer sends to standard output. The command ends when
            both inputs have ended and everything was written at the other side. When standard input and output are
            terminals it is a chat: lines, with the peer's name in front of what it says.

            The own data goes to standard output when that is a terminal, otherwise to standard error, so that
            'multipeer link ... > file' gets the peer's bytes alone. Between two shells:
              multipeer link --out a.data --from b.data < file
              multipeer link --out b.data --from a.data > copy


            """ + CodeComparison.details,
        options: PeerConnector.options + [
            .init(
                "--mesh",
                "link with everybody with whom the other side is linked, too, when it gives this option as well; what "
                    + "goes in and out is the other side's alone"),
            .init("--chat", "show lines with the peer's name, also when this is not a terminal"),
            .init("--verbose", "say what protects the link and what went over it"),
            .init("--quiet", "say nothing but errors; the own data is not shown when --out is given"),
        ], exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let connector = try PeerConnector(arguments, as: .linking)
        SignalHandler.first { await connector.leave() }
        do throws(CommandError) {
            try await talk(connector, wantsChat: arguments.has("--chat"))
        } catch {
            await connector.leave()
            throw error
        }
        await connector.leave()
    }

    private static func talk(_ connector: PeerConnector, wantsChat: Bool) async throws(CommandError) {
        let isChat = wantsChat || (DescriptorStream.input.isTerminal && DescriptorStream.output.isTerminal)
        let peer = try await connector.meet()
        let relay = StandardStreamRelay(
            connector.session, with: peer, asChat: isChat ? ChatFormatter(with: peer) : nil,
            refusal: connector.refusal(to: peer))
        let isShown = DescriptorStream.error.isTerminal && !connector.isQuiet && !isChat
        let progress = isShown ? Task { await relay.progress.show() } : nil
        defer { if connector.isVerbose { Terminal.say(relay.progress.summary) } }
        do throws(CommandError) {
            try await relay.run()
        } catch {
            await end(progress)
            throw error
        }
        await end(progress)
    }

    private static func end(_ progress: Task<Void, Never>?) async {
        progress?.cancel()
        await progress?.value
    }
}
