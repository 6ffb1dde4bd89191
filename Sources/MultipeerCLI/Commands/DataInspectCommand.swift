import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer data inspect`: shows connection data field by field.
enum DataInspectCommand: Subcommand {
    static let usage = Usage(
        ["data", "inspect"], operands: "[DATA]", mostOperands: 1, "show connection data field by field",
        details: """
            The data is read from standard input, or from FILE with @FILE or --from; DATA itself, one line of base64, can
            also be given, but other users of this machine can read arguments. The token is a secret
            and is shown only with --secret. If a check of the specification's section 4.1 fails, the fields are shown
            as far as possible, and the number of the check goes to standard error.
            """,
        options: [
            .init("--from", "FILE", "read FILE, base64 or raw bytes"),
            .init("--secret", "also show the token"), .init("--json", "print JSON"),
        ], exits: [.badInput, .system])

    static func run(_ arguments: Arguments) throws(CommandError) {
        try arguments.exclude(["--from"], orOperand: true)
        let bytes = try input(arguments)
        let report = Report(bytes, showingSecrets: arguments.has("--secret"))
        try Terminal.put(arguments.has("--json") ? JSON.encode(report) : Array(report.text.utf8))
        if let fault = report.fault {
            throw CommandError("check \(fault.check) failed: \(fault)", exit: .badInput)
        }
    }

    private static func input(_ arguments: Arguments) throws(CommandError) -> [UInt8] {
        if let path = arguments.value("--from") {
            return try ConnectionDataInput.decode(contents: AtomicFile.read(path, limit: 65_536))
        }
        if let data = arguments.operands.first, data != "@-" {
            return try ConnectionDataInput.decode(argument: data, isQuiet: false)
        }
        return try ConnectionDataInput.decode(contents: DescriptorStream.input.readAll(limit: 65_536))
    }

    /// What is printed.
    private struct Report: Encodable {
        let isValid: Bool
        let failedCheck: Int?
        let problem: String?
        let fields: [Dissection.Row]
        let fault: InvalidConnectionData?

        enum CodingKeys: CodingKey { case isValid, failedCheck, problem, fields }

        init(_ bytes: [UInt8], showingSecrets: Bool) {
            fields = Dissection(bytes, showingSecrets: showingSecrets).rows
            var fault: InvalidConnectionData?
            do throws(InvalidConnectionData) { _ = try ConnectionData(parsing: bytes) } catch {
                fault = error
            }
            self.fault = fault
            isValid = fault == nil
            failedCheck = fault?.check
            problem = fault.map { "\($0)" }
        }

        var text: String {
            let width = fields.map(\.field.count).max() ?? 0
            let lines = fields.map { row in
                let offset =
                    String(repeating: " ", count: max(0, 4 - "\(row.offset)".count)) + "\(row.offset)"
                let head = "\(offset)  \(row.field.padded(to: width))  \(row.meaning)\n"
                let hex = row.hex ?? "(\(row.length) bytes; use --secret to show)"
                return head + "\(String(repeating: " ", count: width + 8))\(hex)\n"
            }
            let verdict = isValid ? "valid" : "not valid"
            return lines.joined() + "\n\(fields.reduce(0) { $0 + $1.length }) bytes, \(verdict)\n"
        }
    }
}
