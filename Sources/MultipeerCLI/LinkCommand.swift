import Multipeer

/// `multipeer link`: a secure netcat, and a chat when people are at both ends.
enum LinkCommand {
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


            """ + Verification.details,
        options: Rendezvous.options + [
            .init(
                "--mesh",
                "link with everybody with whom the other side is linked, too, when it gives this option as well; what "
                    + "goes in and out is the other side's alone"),
            .init("--chat", "show lines with the peer's name, also when this is not a terminal"),
            .init("--verbose", "say what protects the link and what went over it"),
            .init("--quiet", "say nothing but errors; the own data is not shown when --out is given"),
        ], exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(Complaint) {
        let rendezvous = try Rendezvous(arguments, as: .linking)
        Interrupt.first { await rendezvous.leave() }
        do throws(Complaint) {
            try await talk(rendezvous, wantsChat: arguments.has("--chat"))
        } catch {
            await rendezvous.leave()
            throw error
        }
        await rendezvous.leave()
    }

    private static func talk(_ rendezvous: Rendezvous, wantsChat: Bool) async throws(Complaint) {
        let isChat = wantsChat || (Stream.input.isTerminal && Stream.output.isTerminal)
        let peer = try await rendezvous.meet()
        let conversation = Conversation(
            rendezvous.session, with: peer, asChat: isChat ? Chat(with: peer) : nil,
            refusal: rendezvous.refusal(to: peer))
        let isShown = Stream.error.isTerminal && !rendezvous.isQuiet && !isChat
        let progress = isShown ? Task { await conversation.progress.show() } : nil
        defer { if rendezvous.isVerbose { Terminal.say(conversation.progress.summary) } }
        do throws(Complaint) {
            try await conversation.run()
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
