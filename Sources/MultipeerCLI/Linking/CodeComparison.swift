import Foundation
import Multipeer
import MultipeerCommandLine

/// Both users compare six digits before anything goes over their link.
///
/// Whoever asks for this wants to be asked: without a terminal nothing is linked, and any answer but yes is a no.
struct CodeComparison: Sendable {
    static let option = Usage.Option(
        "--verify",
        "compare a code with the other side, who gives this option too, before anything is sent or shown")
    static let details = """
        With --verify both users compare six digits, by voice or side by side, and say whether they are the same. If
        they are, nobody is in between, also when the connection data came by a way that is not safe. The question is
        asked on the terminal, also when the standard streams are redirected. Without a terminal, on a link that is
        not encrypted, when the other side does not ask within 60 seconds, and after any answer but yes the command
        fails, and nothing was sent or shown.
        """
    private static let prompts = Worker("verification")

    /// Nil when it is not asked for.
    init?(_ arguments: Arguments, _ configuration: SessionConfiguration) throws(CommandError) {
        guard arguments.has(CodeComparison.option.name) else { return nil }
        guard configuration.preference != .none else {
            throw arguments.commandError("'--verify' and '--preference none' exclude each other")
        }
        guard Terminal.isThere else {
            throw arguments.commandError("option '--verify' needs a terminal on which to ask")
        }
    }

    /// What is said without the option when the other side has it.
    static func refusal(to peer: PeerID) -> String {
        "\(peer.displayName.printable) wants to compare codes first: link again, both with --verify"
    }

    /// Throws unless the user says that the other side sees the same code.
    func compare(with peer: PeerID, in session: Session) async throws(CommandError) {
        let code = try await CommandError.translating { () async throws(MultipeerError) in
            try await session.verificationCode(for: peer)
        }
        let question =
            "compare with the other side: \(code.prefix(3)) \(code.suffix(3))\nis it the same there? [y/N] "
        let answer = try await CodeComparison.prompts.run { () throws(CommandError) in
            try Terminal.ask(question)
        }
        guard Terminal.isYes(answer) else {
            throw CommandError(
                "\(peer.displayName.printable) was not verified, and nothing was sent or shown",
                hint: "codes that differ mean that somebody is in between", exit: .linkFailed)
        }
    }
}
