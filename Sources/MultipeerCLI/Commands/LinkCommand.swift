import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer link`: a secure netcat, and a chat between two terminals.
enum LinkCommand: Subcommand {
    static let usage = Usage(
        ["link"], operands: "[CODE|NAME]", mostOperands: CodeOption.mostOperands,
        "link with one peer: a secure netcat and chat",
        examples: """
              multipeer link --code new < file    shows a code such as 7-guitar-island
              multipeer link 7-guitar-island > copy
              multipeer link --name ann           waits for a peer, and asks about it
              multipeer link ann < file           links with ann
            """,
        details: """
            On one side --code new shows a one-time code, and the other user types it: both sides find each other on the
            network, and each proves to the other that it knows the code. One wrong attempt ends both commands.

            Without a code and a name, this peer waits until another one links with its name, which needs no code; you are
            asked before, and without a terminal --yes is required. --timeout limits how long it waits, default: no limit.

            Where multicast does not work, use --to ADDRESS. If neither side can be reached so, use --manual, or
            --data, --from or --out: both sides then exchange their connection data, one line of base64. It contains a
            secret: use a channel that both trust. You are asked for the peer's data on the terminal; without a
            terminal, it is the first line of standard input; --data @FILE and --from read a file. Data in an argument
            can be read by other users of this machine.

            Then standard input is sent to the peer, and what the peer sends is written to standard output. The command
            ends when both inputs have ended and both sides have written everything. If standard input and output are
            terminals, it is a chat: the peer's lines are shown with its name in front. Control characters of the peer
            are escaped if standard output is a terminal, unless --raw is given.

            Your connection data goes to standard output if that is a terminal, otherwise to standard error, so that
            'multipeer link ... > file' gets only the peer's bytes. Between two shells, by hand:
              multipeer link --unverified --out a.data --from b.data < file
              multipeer link --unverified --out b.data --from a.data > copy


            """ + CodeComparison.details,
        options: PeerConnector.options + DiscoveryOptions.options + [
            CodeOption.oneTime, PeerFinder.option, PeerAdvertiser.consent, ManualExchange.manual,
            VerificationGate.option,
            .init(
                "--mesh",
                "also link with every peer that the other side is linked with, if it gives this option too; input and "
                    + "output are still exchanged with the other side only"),
            .init("--chat", "show lines with the peer's name in front, even without a terminal"),
            .init(
                "--raw", "write the peer's bytes to a terminal as they are, with control characters unescaped"
            ),
            .init("--verbose", short: "v", "show how the link is protected and how much was transferred"),
            .init("--quiet", short: "q", "print only errors; with --out, do not show your connection data"),
        ], common: ["--code", "--name", "--yes", "--verify", "--unverified", "--quiet"],
        exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        try arguments.exclude(["--chat", "--raw"])
        let connector = try PeerConnector(
            arguments, as: .link, with: CodeOption.operandOrOption(PeerFinder.option.name, arguments))
        SignalHandler.first { await connector.leave() }
        do throws(CommandError) {
            try await talk(connector, wantsChat: arguments.has("--chat"), isRaw: arguments.has("--raw"))
        } catch {
            await connector.leave()
            throw error
        }
        await connector.leave()
    }

    private static func talk(
        _ connector: PeerConnector, wantsChat: Bool, isRaw: Bool
    ) async throws(CommandError) {
        let isOnTerminal = DescriptorStream.output.isTerminal && !isRaw
        let isChat = wantsChat || (isOnTerminal && DescriptorStream.input.isTerminal)
        let peer = try await connector.meet()
        let relay = StandardStreamRelay(
            connector.session, with: peer, asChat: isChat ? ChatFormatter(with: peer) : nil,
            isEscaped: isOnTerminal && !isChat,
            answersVerification: { () async throws(CommandError) in
                // The relay reads the terminal.
                try await connector.answerVerification(
                    of: peer, mayAsk: !DescriptorStream.input.isTerminal)
            })
        let isShown = Terminal.hasScreen(DescriptorStream.error) && !connector.isQuiet && !isChat
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
