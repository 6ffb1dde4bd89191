import Foundation
import Multipeer
import MultipeerCommandLine

/// Both users compare six digits before anything is sent over their link.
///
/// It needs a terminal: without one nothing is linked, and any answer but yes counts as no.
struct CodeComparison: Sendable {
    static let option = Usage.Option(
        "--verify",
        "compare a code with the other side before anything is sent or shown; both sides need this option")
    static let details = """
        With --verify both users compare six digits, by voice or side by side, and confirm that they match. If they
        do, there is no man-in-the-middle, even if the connection data was exchanged over an insecure channel. You are
        asked on the terminal, even if the standard streams are redirected. The command fails before anything is sent
        or shown if there is no terminal, if the link is not encrypted, if the other side does not use --verify within
        60 seconds, or if your answer is not yes.
        """
    private static let prompts = Worker("verification")

    /// Returns nil without the option.
    init?(_ arguments: Arguments, _ configuration: Session.Configuration) throws(CommandError) {
        guard arguments.has(CodeComparison.option.name) else { return nil }
        guard configuration.encryption != .none else {
            throw arguments.commandError("'--verify' and '--preference none' cannot be used together")
        }
        guard Terminal.isThere else {
            throw arguments.commandError("option '--verify' needs a terminal")
        }
    }

    /// The message when only the peer has the option.
    static func refusal(to peer: PeerID) -> String {
        "\(peer.displayName.printable) wants to compare codes: link again, with --verify on both sides"
    }

    /// Throws unless the user confirms that the peer shows the same code.
    func compare(with peer: PeerID, in session: Session) async throws(CommandError) {
        let code = try await CommandError.translating { () async throws(MultipeerError) in
            try await session.verificationCode(for: peer)
        }
        let question =
            "compare with the other side: \(code.prefix(3)) \(code.suffix(3))\ndo the codes match? [y/N] "
        let answer = try await CodeComparison.prompts.run { () throws(CommandError) in
            try Terminal.ask(question)
        }
        guard Terminal.isYes(answer) else {
            throw CommandError(
                "\(peer.displayName.printable) was not verified; nothing was sent or shown",
                hint: "different codes mean a man-in-the-middle", exit: .linkFailed)
        }
    }
}
