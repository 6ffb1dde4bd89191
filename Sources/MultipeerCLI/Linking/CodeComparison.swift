import MultipeerCommandLine
import MultipeerEssentials

/// Both users type the six digits that the other side shows, before anything is sent over their link.
///
/// It needs a terminal: without one nothing is linked.
struct CodeComparison: Sendable {
    static let option = Usage.Option(
        "--verify", "compare six digits with the other side before anything is sent or shown")
    static let details = """
        With --verify each user types six digits that the other side shows, read out by voice or side by side. If they
        are right, there is no man-in-the-middle, even if the connection data was exchanged over an insecure channel.
        You are asked on the terminal, even if the standard streams are redirected; so is the other user. The command
        fails before anything is sent or shown if either side has no terminal, if the link is not encrypted, or if the
        digits are wrong. If both sides keep their key, the peer is remembered in the --trust-store.
        """
    private static let prompts = Worker("verification")
    /// A mistyped code may be typed again: the digits are fixed, so an attacker gains nothing.
    private static let attempts = 3
    /// How often the end of the link is looked for during a question.
    private static let pace = Duration.milliseconds(100)

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

    /// Compares because the user wants to.
    static func compare(with peer: PeerID, in session: Session) async throws(CommandError) {
        if try await isVerified(peer, session) { return }
        let reason = await end(of: peer, in: session).map { ": \($0.words)" } ?? ""
        throw CommandError(
            "\(peer.displayName.printable) is not verified: the link ended\(reason)".printable,
            exit: .linkFailed)
    }

    /// Returns false if the link ends before the comparison does.
    private static func isVerified(_ peer: PeerID, _ session: Session) async throws(CommandError) -> Bool {
        let name = peer.displayName.printable
        let digits: VerificationDigits
        do throws(MultipeerError) {
            digits = try await session.verificationCode(for: peer)
        } catch {
            throw CommandError("\(name) is not verified: \(error.description.printable)", exit: .linkFailed)
        }
        guard try await isRight(digits, peer, session) else {
            guard await session.connectionInfo(for: peer) != nil else { return false }
            try? await session.rejectVerification(of: peer)
            throw CommandError(
                "\(name) is not verified: the verification codes differ; nothing was sent or shown",
                hint: "different codes mean a man-in-the-middle", exit: .linkFailed)
        }
        do throws(MultipeerError) {
            try await session.confirmVerification(of: peer)
        } catch {
            // The link may have ended before the user had typed.
            if error.code == .notConnected { return false }
            throw CommandError("\(name) is not verified: \(error.description.printable)", exit: .linkFailed)
        }
        Terminal.say("\(name) is verified by code")
        return true
    }

    /// Returns why the link has ended. Nothing has read the events before.
    private static func end(of peer: PeerID, in session: Session) async -> DisconnectReason? {
        for await event in session.events {
            if case .peer(peer, .notConnected(let reason)) = event { return reason }
        }
        return nil
    }

    /// Asks the user for the other side's digits.
    private static func isRight(
        _ digits: VerificationDigits, _ peer: PeerID, _ session: Session
    ) async throws(CommandError) -> Bool {
        let name = peer.displayName.printable
        var prompt = """
            read these digits to \(name): \(digits.own.prefix(3)) \(digits.own.suffix(3))
            type the six digits that \(name) sees, or no: 
            """
        for attempt in 1...attempts {
            let answer: String?
            do throws(CommandError) { answer = try await ask(prompt, about: peer, in: session) } catch {
                // The digits were not compared, so they do not differ.
                try? await session.declineVerification(of: peer)
                throw CommandError(
                    "\(name) is not verified: \(error.text); nothing was sent or shown", hint: error.hint,
                    exit: .linkFailed)
            }
            guard let answer, !Terminal.isNo(answer) else { return false }
            if digits.match(answer) { return true }
            let problem =
                VerificationDigits.isComplete(answer) ? "these are not the digits" : "six digits are needed"
            prompt =
                "\(problem) (try \(attempt + 1) of \(attempts)); type the digits that \(name) sees, or no: "
        }
        return false
    }

    /// Asks the user; returns nil when the link ends before the answer.
    private static func ask(
        _ question: String, about peer: PeerID, in session: Session
    ) async throws(CommandError) -> String? {
        let ending = Cancellation()
        // Not by the events, which are for what comes after the comparison.
        let watching = Task {
            while !Task.isCancelled, await session.connectionInfo(for: peer) != nil {
                try? await Task.sleep(for: pace)
            }
            ending.cancel()
        }
        defer { watching.cancel() }
        // A line of progress may be there.
        let start = Terminal.hasScreen(DescriptorStream.error) ? "\r\u{1b}[K" : ""
        return try await prompts.run { () throws(CommandError) in
            try Terminal.ask(start + question, unless: ending)
        }
    }

    /// Asks the user whether to compare because the other side wants to. Without a terminal the other side is notified at once.
    static func answer(_ peer: PeerID, in session: Session, mayAsk: Bool) async throws(CommandError) {
        let name = peer.displayName.printable
        guard mayAsk, Terminal.isThere else {
            try? await session.declineVerification(of: peer)
            return Terminal.say(
                "\(name) wants to compare codes: start both sides again, this one with --verify")
        }
        let answer: String?
        do throws(CommandError) {
            answer = try await ask(
                "\(name) wants to compare codes. Compare? [Y/n] ", about: peer, in: session)
        } catch {
            try? await session.declineVerification(of: peer)
            return Terminal.warn("\(name) wants to compare codes, and that cannot be asked: \(error)")
        }
        guard let answer, !Terminal.isNo(answer) else {
            try? await session.declineVerification(of: peer)
            return
        }
        // The command that reads the events reports the end of the link, with its reason.
        _ = try await isVerified(peer, session)
    }
}
