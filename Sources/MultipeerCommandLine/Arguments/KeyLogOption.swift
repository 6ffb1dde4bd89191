package import MultipeerEssentials

/// `--keylog`: a file with all TLS and DTLS secrets, for a packet analyser.
package enum KeyLogOption {
    package static let option = Usage.Option(
        "--keylog", "FILE",
        "append TLS and DTLS secrets to FILE for a packet analyser; anyone who can read FILE can decrypt everything; "
            + "default: the variable SSLKEYLOGFILE")

    /// Nil once the variable was reported.
    private static let isSilent = Locked<Bool?>(true)

    /// Returns nil when no key log was requested, and for a command that encrypts nothing.
    package static func read(_ arguments: Arguments) throws(CommandError) -> KeyLog? {
        guard arguments.takes(option.name) else { return nil }
        let variable = Environment.value("SSLKEYLOGFILE").flatMap { $0.isEmpty ? nil : $0 }
        guard let path = arguments.value(option.name) ?? variable else { return nil }
        // The user may not know what the environment contains.
        if !arguments.has(option.name), isSilent.withLock({ wasSilent in wasSilent.take() }) != nil {
            Terminal.warn(
                "SSLKEYLOGFILE is set: anyone who can read \(path.printable) can decrypt everything sent here"
            )
        }
        do {
            return try KeyLog(file: path) { failure in
                Terminal.warn("key log stopped: \("\(failure)".printable)")
            }
        } catch {
            throw CommandError("cannot write key log: \("\(error)".printable)", exit: .system)
        }
    }
}
