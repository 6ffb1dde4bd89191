import MultipeerCommandLine
import MultipeerEssentials

/// Relays standard input to the peer, and the peer to standard output, until both inputs have ended.
///
/// An empty message ends a side's input; a second one acknowledges that it has written everything from the other side. So
/// a side that has received both knows that its own bytes were delivered, however the link ends afterwards.
///
/// ```
///   relaying ──both inputs ended──▶ acknowledged ──acknowledged by the peer──▶ over
///      └───────────the link ends──────────┴──▶ failed
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
    private let isEscaped: Bool
    private let answersVerification: @Sendable () async throws(CommandError) -> Void
    private let state = Locked(State())
    private let outcome = Promise<CommandError?>()
    private let input = Worker("input")
    private let output = Worker("output")

    /// `isEscaped`: whether the peer's bytes are written as text for a terminal. `answersVerification` is called when the peer
    /// wants to compare codes.
    init(
        _ session: Session, with peer: PeerID, asChat chat: ChatFormatter?, isEscaped: Bool,
        answersVerification: @escaping @Sendable () async throws(CommandError) -> Void
    ) {
        self.session = session
        self.peer = peer
        self.chat = chat
        self.isEscaped = isEscaped
        self.answersVerification = answersVerification
    }

    /// Throws when a stream fails, or the link ends before everything is delivered.
    func run() async throws(CommandError) {
        // Not a task group: the read of standard input cannot be stopped, and the process ends anyway.
        Task { await settle { () throws(CommandError) in try await self.send() } }
        Task { await settle { () throws(CommandError) in try await self.receive() } }
        if let commandError = await outcome.value() { throw commandError }
        // The peer leaves as soon as it has everything, so the link may have ended already.
        try? await session.waitUntilReceived(by: peer)
    }

    private func settle(_ body: () async throws(CommandError) -> Void) async {
        do throws(CommandError) { try await body() } catch { outcome.send(error) }
    }

    private func send() async throws(CommandError) {
        while let piece = try await input.run({ () throws(CommandError) in
            try DescriptorStream.input.readInForeground(StandardStreamRelay.piece)
        }) {
            guard await sends(piece) else { return }
            progress.sent(piece.count)
        }
        guard await sends([]) else { return }
        await note { $0.hasSentEnd = true }
    }

    /// Waits while the queue is full; returns false when the link has ended, which the events report in order.
    private func sends(_ message: [UInt8]) async -> Bool {
        do throws(MultipeerError) {
            try await session.send(message, to: peer)
            return true
        } catch {
            return false
        }
    }

    /// Takes no event before the last message is written: that is the back-pressure on the peer.
    private func receive() async throws(CommandError) {
        var hasEnded = false
        var text = TerminalText()
        for await event in session.events {
            switch event {
            // A mesh has other peers, too.
            case .message(let message) where message.peer != peer: break
            case .message(let message) where message.bytes.isEmpty:
                if hasEnded {
                    await note { $0.isAcknowledged = true }
                } else {
                    if isEscaped { try await put(text.finish()) }
                    chat?.sayGoodbye()
                    await note { $0.hasWrittenAll = true }
                }
                hasEnded = true
            case .message(let message):
                progress.received(message.bytes.count)
                let bytes = isEscaped ? text.render(message.bytes) : message.bytes
                try await put(chat?.render(message.bytes) ?? bytes)
            case .peer(peer, .notConnected(let reason)):
                outcome.send(state.withLock(\.isOver) ? nil : ended(by: reason))
            case .verificationRequested(peer):
                Task { await settle { () throws(CommandError) in try await self.answersVerification() } }
            case .peer, .stream, .resource, .verificationRequested, .verified: break
            }
        }
    }

    private func put(_ bytes: [UInt8]) async throws(CommandError) {
        try await output.run { () throws(CommandError) in try Terminal.put(bytes) }
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
            "the link to \(name) ended before everything had arrived: \(reason.words)",
            hint: "start both commands again",
            exit: .linkFailed)
    }
}

/// A peer's messages for people: its name in front of every line, and control characters escaped.
struct ChatFormatter: Sendable {
    let name: String

    init(with peer: PeerID) { name = PeerLabels()[peer] }

    /// The peer has ended its input.
    func sayGoodbye() { Terminal.say("\(name) closed input; press Ctrl-D to finish") }

    func render(_ message: [UInt8]) -> [UInt8] {
        let lines = String(decoding: message, as: UTF8.self).lines
        return Array(lines.map { "\(name): \(String($0).printableText)\n" }.joined().utf8)
    }
}
