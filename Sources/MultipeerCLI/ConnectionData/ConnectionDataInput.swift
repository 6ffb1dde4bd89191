import MultipeerCommandLine
import MultipeerEssentials

/// Connection data as it was given to a command: base64 in an argument, or a file with base64 or raw bytes.
enum ConnectionDataInput {
    private static let magic = Array("MPCD".utf8)

    static func decode(_ text: String) throws(CommandError) -> [UInt8] {
        guard let bytes = Base64.decode(text) else {
            throw CommandError(
                "invalid base64", hint: "connection data is one line, as 'multipeer link --manual' prints it",
                exit: .badInput)
        }
        return bytes
    }

    /// Returns the bytes for an argument: those in FILE for @FILE, otherwise those that the argument is. Other users can see the
    /// arguments of a process, so the user is warned about the second form.
    static func decode(argument text: String, isQuiet: Bool) throws(CommandError) -> [UInt8] {
        if let file = text.rest(after: "@") {
            return try decode(contents: AtomicFile.read(String(file), limit: 65_536))
        }
        let bytes = try decode(text)
        if !isQuiet { warn() }
        return bytes
    }

    /// Returns whether the text is the first part of connection data in base64, which says itself how long it is.
    static func isBeginning(_ text: String) -> Bool {
        let digits = text.filter { !$0.isWhitespace }
        guard let bytes = Base64.decode(String(digits.prefix(digits.count / 4 * 4))), bytes.count >= 8,
            bytes.starts(with: magic)
        else { return false }
        let length = Int(bytes[6]) << 8 | Int(bytes[7])
        return bytes.count < length && length <= longest
    }

    /// In bytes: the limit of the specification's section 4.1.
    private static let longest = 1_024

    /// Throws if an operand that is a name or a directory is connection data.
    static func refuse(asOperand text: String) throws(CommandError) {
        guard text.begins(with: "@") || Base64.decode(text)?.starts(with: magic) == true else { return }
        throw CommandError(
            "connection data is given with --data", hint: "write it to a file and use '--data @FILE'",
            exit: .usage)
    }

    private static let hasWarned = Locked(false)

    /// Warns once.
    private static func warn() {
        guard hasWarned.setFirst() else { return }
        Terminal.warn(
            "other users of this machine can read the connection data in the arguments: use @FILE or standard "
                + "input")
    }

    /// Returns the bytes in a file's contents.
    static func decode(contents: [UInt8]) throws(CommandError) -> [UInt8] {
        contents.starts(with: magic) ? contents : try decode(String(decoding: contents, as: UTF8.self))
    }

    /// Returns the error for data that failed a check.
    static func commandError(_ fault: InvalidConnectionData) -> CommandError {
        CommandError(
            "check \(fault.check) failed: \(fault)", hint: "run 'multipeer data inspect' to see its fields",
            exit: .badInput)
    }

    static func read(_ bytes: [UInt8]) throws(CommandError) -> ConnectionData {
        do throws(InvalidConnectionData) {
            return try ConnectionData(parsing: bytes)
        } catch {
            throw commandError(error)
        }
    }
}
