package import MultipeerSecurity

// The faults of single values, which the lower layers throw, as the error of the public API.
extension MultipeerError {
    /// Runs `body`, and throws its fault as an error with this code and the fault's text.
    package static func checking<Value, Fault: Error & CustomStringConvertible>(
        _ code: Code, _ body: () throws(Fault) -> Value
    ) throws(MultipeerError) -> Value {
        do throws(Fault) { return try body() } catch { throw MultipeerError(code, error.description) }
    }

    /// Runs `body`, and throws its fault as an error with the code that belongs to it.
    package static func checking<Value>(
        _ body: () throws(SecurityFault) -> Value
    ) throws(MultipeerError) -> Value {
        do throws(SecurityFault) { return try body() } catch { throw MultipeerError(error) }
    }

    package init(_ fault: SecurityFault) {
        switch fault {
        case .local(.passphraseNeeded), .local(.wrongPassphrase): self.init(.passphrase, fault.description)
        case .local(.malformedTrustStore): self.init(.invalidArgument, fault.description)
        case .local, .peer, .internal: self.init(.identity, fault.description)
        }
    }
}
