package import Multipeer

extension CommandError {
    /// Creates the command's error for an error of the library: one line and an exit code. A cancellation that reaches this was
    /// the peer's: a command that the user interrupts ends in `SignalHandler`.
    package init(_ error: MultipeerError) {
        let exit: ExitCode =
            switch error.code {
            case .invalidConnectionData, .identity, .passphrase: .badInput
            case .invalidArgument: .usage
            case .system, .discovery: .system
            default: .linkFailed
            }
        let hint = error.code == .discovery ? "run 'multipeer doctor' to diagnose" : nil
        self.init(error.description.printable, hint: hint, exit: exit)
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
