import MultipeerCommandLine
import MultipeerEssentials

/// Sends the text of one run of `multipeer send --text`, and waits until the receiver has written it.
final class TextSender: Sendable {
    static let option = Usage.Option(
        "--text", short: "m", "TEXT",
        "send TEXT in place of files; the receiver prints it; other users of this machine can read arguments")
    /// In bytes.
    private static let longest = 65_536

    private let text: String
    private let connector: PeerConnector

    /// Reads the option; returns nil without it.
    static func text(_ arguments: Arguments) throws(CommandError) -> String? {
        guard let text = arguments.value(option.name) else { return nil }
        guard text.utf8.count <= longest else {
            throw arguments.commandError(
                "option '\(option.name)' takes at most \(longest) bytes; send longer text as a file")
        }
        return text
    }

    init(_ text: String, _ connector: PeerConnector) {
        self.text = text
        self.connector = connector
    }

    func run(to name: String?) async throws(CommandError) {
        let peer = try await connector.meet(expecting: name)
        let session = connector.session
        let outcome = Task { await self.confirmation(of: peer) }
        try await CommandError.translating { [text] () async throws(MultipeerError) in
            try await session.send(text, to: peer)
        }
        if let error = await outcome.value { throw error }
        if !connector.isQuiet { Terminal.say("sent a text, \(HumanReadable.bytes(text.utf8.count))") }
    }

    /// Returns nil once the receiver has written the text, which it says with an empty message.
    private func confirmation(of peer: PeerID) async -> CommandError? {
        var end: DisconnectReason?
        events: for await event in connector.session.events {
            switch event {
            case .message(let message) where message.peer == peer && message.bytes.isEmpty: return nil
            case .peer(peer, .notConnected(let reason)):
                end = reason
                break events
            case .verificationRequested(peer):
                connector.answerVerification(of: peer) { Terminal.warn($0) }
            default: break
            }
        }
        let reason = end.map { ": \($0.words)" } ?? ""
        return CommandError(
            "the link to \(peer.displayName) ended before the text was received\(reason)".printable,
            exit: .linkFailed)
    }
}
