package import MultipeerEssentials

/// An identity in a file that an option names.
package enum IdentityFile {
    /// Throws when others could have read the key.
    package static func read(
        _ path: String, _ passphrase: PassphraseSource, as kind: AtomicFile.Kind = .key
    ) throws(CommandError) -> Identity {
        let contents = try AtomicFile.read(path, as: kind)
        let given = try passphrase.given()
        do throws(SecurityFault) {
            return try Identity(parsing: contents, passphrase: given)
        } catch .local(.passphraseNeeded) where given == nil {
            let typed = try passphrase.open(path)
            return try explain(path) { () throws(SecurityFault) in
                try Identity(parsing: contents, passphrase: typed)
            }
        } catch {
            throw commandError(error, path)
        }
    }

    /// Translates faults of the security layer to errors of the command.
    package static func explain<Value>(
        _ path: String? = nil, _ body: () throws(SecurityFault) -> Value
    ) throws(CommandError) -> Value {
        do throws(SecurityFault) {
            return try body()
        } catch {
            throw commandError(error, path)
        }
    }

    private static func commandError(_ fault: SecurityFault, _ path: String?) -> CommandError {
        let subject = path.map { "\($0.printable): " } ?? ""
        var hint: String?
        if case .local(.passphraseNeeded) = fault { hint = "use --passphrase-file" }
        return CommandError(subject + "\(fault)".printable, hint: hint, exit: .badInput)
    }
}
