import Foundation
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
        options: Exchange.options + SessionOptions.options + [
            Verification.option,
            .init("--chat", "show lines with the peer's name, also when this is not a terminal"),
            .init("--verbose", "say what protects the link and what went over it"),
            .init("--quiet", "say nothing but errors; the own data is not shown when --out is given"),
        ], exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(Complaint) {
        try arguments.exclude(["--verbose", "--quiet"])
        let exchange = try Exchange(arguments)
        let options = try SessionOptions(arguments)
        let verification = try Verification(arguments, options.configuration)
        let session = try Complaint.translating { () throws(MultipeerError) in
            try Session(peer: options.peer, configuration: options.configuration)
        }
        let link = Linking(session, exchange, verification, arguments)
        Interrupt.first { await link.leave() }
        do throws(Complaint) {
            try await link.run()
        } catch {
            await link.leave()
            throw error
        }
        await link.leave()
    }
}

/// One run of the command, from the own data to the farewell.
private final class Linking: Sendable {
    private let session: Session
    private let exchange: Exchange
    private let verification: Verification?
    private let isQuiet: Bool
    private let isVerbose: Bool
    private let isChat: Bool
    private let state = Locked(State())

    private struct State: Sendable {
        var leaving: Task<Void, Never>?
        var data: ConnectionData?
    }

    init(
        _ session: Session, _ exchange: Exchange, _ verification: Verification?, _ arguments: Arguments
    ) {
        self.session = session
        self.exchange = exchange
        self.verification = verification
        isQuiet = arguments.has("--quiet")
        isVerbose = arguments.has("--verbose")
        isChat = arguments.has("--chat") || (Stream.input.isTerminal && Stream.output.isTerminal)
    }

    func run() async throws(Complaint) {
        let mine = try await Complaint.translating { () async throws(MultipeerError) in
            try await session.connectionData()
        }
        state.withLock { $0.data = mine }
        try exchange.publish(mine)
        let theirs = try await exchange.obtain(within: session.configuration.patience)
        try await connect(with: theirs)
        await introduce(theirs.peer)
        try await verification?.compare(with: theirs.peer, in: session)
        let conversation = Conversation(
            session, with: theirs.peer, asChat: isChat ? Chat(with: theirs.peer) : nil,
            refusal: verification == nil && !isQuiet ? Verification.refusal(to: theirs.peer) : nil)
        let isShown = Stream.error.isTerminal && !isQuiet && !isChat
        let progress = isShown ? Task { await conversation.progress.show() } : nil
        defer { if isVerbose { Terminal.say(conversation.progress.summary) } }
        do throws(Complaint) {
            try await conversation.run()
        } catch {
            await end(progress)
            throw error
        }
        await end(progress)
    }

    private func connect(with theirs: ConnectionData) async throws(Complaint) {
        do throws(MultipeerError) {
            try await session.connect(with: theirs)
        } catch {
            // Refused: the other side has yet to read our data to learn the same from it.
            if error.reason?.code != .timedOut { state.withLock { $0.data = nil } }
            throw Complaint(error)
        }
    }

    private func end(_ progress: Task<Void, Never>?) async {
        progress?.cancel()
        await progress?.value
    }

    private func introduce(_ peer: PeerID) async {
        guard !isQuiet, let facts = await session.facts(for: peer) else { return }
        Terminal.say(
            "linked with \(peer.displayName.printable), \(facts.isEncrypted ? "encrypted" : "not encrypted")")
        guard isVerbose else { return }
        Terminal.say("peer id \(Dissection.hex(peer.uid.bytes)) at \(facts.address)")
        Terminal.say("protected by \(facts.suite ?? "nothing"), authenticated by \(facts.authentication)")
    }

    /// Says goodbye and cleans up, once; whoever comes second waits for the same end.
    func leave() async {
        let leaving = state.withLock { state in
            if let leaving = state.leaving { return leaving }
            let data = state.data
            let leaving = Task { [session, exchange] in
                await session.disconnect()
                exchange.retract(data)
            }
            state.leaving = leaving
            return leaving
        }
        await leaving.value
    }
}
