package import Multipeer

/// An identity in a file, as options name it.
package enum IdentityFile {
    package static func read(_ path: String, _ passphrase: PassphraseSource) throws(CommandError) -> Identity
    {
        let contents = try AtomicFile.read(path)
        if let mode = AtomicFile.exposure(of: path) {
            Terminal.say(
                "others can read \(path.printable), mode \(mode) ('chmod 600' keeps the key private)")
        }
        let given = try passphrase.given()
        do throws(SecurityFault) {
            return try Identity(file: contents, passphrase: given)
        } catch .local(.passphraseNeeded) where given == nil {
            let typed = try passphrase.open(path)
            return try explain(path) { () throws(SecurityFault) in
                try Identity(file: contents, passphrase: typed)
            }
        } catch {
            throw commandError(error, path)
        }
    }

    /// The error of the command for a fault of the security layer.
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
        if case .local(.passphraseNeeded) = fault { hint = "give it with --passphrase-file" }
        return CommandError(subject + "\(fault)".printable, hint: hint, exit: .badInput)
    }
}
