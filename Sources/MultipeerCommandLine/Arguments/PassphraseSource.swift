import MultipeerEssentials

/// Where a passphrase comes from: a file, the environment, or the user at the terminal.
package struct PassphraseSource {
    package static let variable = "MULTIPEER_PASSPHRASE"
    package static let option = Usage.Option(
        "--passphrase-file", "FILE",
        "read the passphrase from the first line of FILE; default: the variable \(variable), or a prompt"
    )

    package let file: String?

    package init(_ arguments: Arguments) { file = arguments.value(PassphraseSource.option.name) }

    /// Returns the passphrase from the file or the environment, without asking the user.
    package func given() throws(CommandError) -> String? {
        guard let file else { return Environment.value(PassphraseSource.variable) }
        let text = String(decoding: try AtomicFile.read(file, limit: 65_536), as: UTF8.self)
        let line = text.prefix { !$0.isNewline }
        guard !line.isEmpty else {
            throw CommandError(
                "\(file.printable) contains no passphrase", hint: "its first line is the passphrase",
                exit: .badInput)
        }
        return String(line)
    }

    /// Returns the passphrase for something that exists; nil without a terminal to ask on.
    package func open(_ what: String) throws(CommandError) -> String? {
        if let given = try given() { return given }
        guard Terminal.isThere else { return nil }
        return try Terminal.ask("passphrase for \(what.printable): ", isSecret: true)
    }

    /// Returns a passphrase for something new, typed twice; nil without a terminal to ask on.
    package func choose() throws(CommandError) -> String? {
        if let given = try given() { return given }
        guard Terminal.isThere else { return nil }
        let first = try Terminal.ask("new passphrase: ", isSecret: true)
        guard try Terminal.ask("repeat passphrase: ", isSecret: true) == first else {
            throw CommandError("passphrases do not match", hint: "type the same one twice", exit: .badInput)
        }
        return first
    }
}
