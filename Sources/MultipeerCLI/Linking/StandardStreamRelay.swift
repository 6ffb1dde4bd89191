import Multipeer
import MultipeerCommandLine

/// Standard input to the peer and the peer to standard output, until both sides have nothing more to say.
///
/// An empty message ends a side's input; a second one says that it has written everything of the other side. So whoever
/// has received both knows that its own bytes are where they belong, however the link ends afterwards.
///
/// ```
///   talking ──both inputs ended──▶ says so ──the other has said so too──▶ over
///      └──────────the link ends───────┴──▶ failed
/// ```
final class StandardStreamRelay: Sendable {
    private struct State: Sendable {
        var hasSentEnd = false
        var hasWrittenAll = false
        var isAcknowledged = false

        var mayAcknowledge: Bool { hasSentEnd && hasWrittenAll }
        var isOver: Bool { mayAcknowledge && isAcknowledged }
    }

    private static let piece = 65_536

    let progress = ByteCounter()
    private let session: Session
    private let peer: PeerID
    private let chat: ChatFormatter?
    private let refusal: String?
    private let state = Locked(State())
    private let outcome = Promise<CommandError?>()
    private let input = Worker("input")
    private let output = Worker("output")

    /// `refusal` is said when the peer wants to compare codes and this side does not.
    init(_ session: Session, with peer: PeerID, asChat chat: ChatFormatter?, refusal: String?) {
        self.session = session
        self.peer = peer
        self.chat = chat
        self.refusal = refusal
    }

    /// Throws when a stream fails, or the link ends before everything is where it belongs.
    func run() async throws(CommandError) {
        // Not a group: nobody can stop the one that reads standard input, and the process ends anyway.
        Task { await settle { () throws(CommandError) in try await self.send() } }
        Task { await settle { () throws(CommandError) in try await self.receive() } }
        if let commandError = await outcome.value() { throw commandError }
        // The peer leaves as soon as it has everything, so this may find the link gone.
        try? await session.flush(to: peer)
    }

    private func settle(_ body: () async throws(CommandError) -> Void) async {
        do throws(CommandError) { try await body() } catch { outcome.send(error) }
    }

    private func send() async throws(CommandError) {
        while let piece = try await input.run({ () throws(CommandError) in
            try DescriptorStream.input.read(StandardStreamRelay.piece)
        }) {
            guard await sends(piece) else { return }
            progress.sent(piece.count)
        }
        guard await sends([]) else { return }
        await note { $0.hasSentEnd = true }
    }

    /// Waits while the queue is full; false when the link has ended, which is told in order by the events.
    private func sends(_ message: [UInt8]) async -> Bool {
        do throws(MultipeerError) {
            try await session.send(message, to: peer)
            return true
        } catch {
            return false
        }
    }

    /// Takes no event before the last message is written: that is what holds the peer back.
    private func receive() async throws(CommandError) {
        var hasEnded = false
        for await event in session.events {
            switch event {
            // In a mesh there are others, too.
            case .message(let message) where message.peer != peer: break
            case .message(let message) where message.bytes.isEmpty:
                if hasEnded {
                    await note { $0.isAcknowledged = true }
                } else {
                    chat?.sayGoodbye()
                    await note { $0.hasWrittenAll = true }
                }
                hasEnded = true
            case .message(let message):
                progress.received(message.bytes.count)
                let bytes = chat?.render(message.bytes) ?? message.bytes
                try await output.run { () throws(CommandError) in try Terminal.put(bytes) }
            case .peer(peer, .notConnected(let reason)):
                outcome.send(state.withLock(\.isOver) ? nil : ended(by: reason))
            case .verificationRequested(peer):
                if let refusal { Terminal.say(refusal) }
            case .peer, .stream, .resource, .verificationRequested: break
            }
        }
    }

    private func note(_ change: @Sendable (inout State) -> Void) async {
        let (before, after) = state.withLock { state in
            let before = state
            change(&state)
            return (before, state)
        }
        if after.mayAcknowledge, !before.mayAcknowledge { _ = await sends([]) }
        if after.isOver { outcome.send(nil) }
    }

    private func ended(by reason: DisconnectReason) -> CommandError {
        let name = peer.displayName.printable
        return CommandError(
            "the link to \(name) ended before everything had arrived: \("\(reason)".printable)",
            exit: .linkFailed)
    }
}

/// What a peer says, for people: its name in front of every line, and nothing that plays tricks on the terminal.
struct ChatFormatter: Sendable {
    let name: String

    init(with peer: PeerID) { name = peer.displayName.printable }

    /// The peer has ended its input.
    func sayGoodbye() { Terminal.say("\(name) has nothing more to say (control-d when you have not either)") }

    func render(_ message: [UInt8]) -> [UInt8] {
        var lines = String(decoding: message, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return Array(lines.map { "\(name): \(String($0).printable)\n" }.joined().utf8)
    }
}
