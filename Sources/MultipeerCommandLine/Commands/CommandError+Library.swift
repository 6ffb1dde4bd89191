package import MultipeerEssentials

extension CommandError {
    /// Creates the command's error for an error of the library: one line and an exit code. A cancellation that reaches this was
    /// the peer's: a command that the user interrupts ends in `SignalHandler`.
    package init(_ error: MultipeerError) {
        let exit: ExitCode =
            switch error.code {
            case .invalidConnectionData, .identity, .passphrase: .badInput
            case .invalidArgument: .usage
            case .system, .discovery: .system
            case .tooManyFiles where error.closeCode == nil: .system
            default: .linkFailed
            }
        self.init(error.description.printable, hint: CommandError.hint(error), exit: exit)
    }

    private static func hint(_ error: MultipeerError) -> String? {
        if error.code == .discovery { return "run 'multipeer doctor' to diagnose" }
        guard let reason = error.reason, reason.code == .rejected else { return nil }
        if reason.detail.isEmpty { return "the other side may remember another key under this name" }
        // The words of TrustEvidence.contradiction.
        return reason.detail.begins(with: "the key has")
            ? "ask its user whether that is right; on a terminal you may accept the new key" : nil
    }

    package static func translating<Value>(
        _ body: () throws(MultipeerError) -> Value
    ) throws(CommandError) -> Value {
        do throws(MultipeerError) { return try body() } catch { throw CommandError(error) }
    }

    package static func translating<Value: Sendable>(
        _ body: () async throws(MultipeerError) -> Value
    ) async throws(CommandError) -> Value {
        do throws(MultipeerError) { return try await body() } catch { throw CommandError(error) }
    }
}

extension DisconnectReason {
    /// The reason for people, who know commands and no sessions.
    package var words: String {
        switch code {
        case .left: "cancelled"
        case .goodbye where undelivered.messages == 0: "the other side has ended it"
        case .goodbye: "the other side has ended it; \(undelivered) not sent".printable
        default: "\(self)".printable
        }
    }
}
