/// What the compiler says of a line, or is expected to say.
struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    enum Severity: String { case warning, error }

    let line: Int
    let severity: Severity
    /// The sentence; of an expectation, a part of it.
    let text: String

    var description: String { "\(line): \(severity): \(text)" }

    /// Returns what a line of the compiler's output reports of a file; nil for any other line.
    init?(output: Substring, of path: String) {
        guard output.hasPrefix("\(path):") else { return nil }
        let parts = output.dropFirst(path.count + 1).split(separator: ":", maxSplits: 3)
        guard parts.count == 4, let line = Int(parts[0]),
            let severity = Severity(rawValue: String(parts[2].drop { $0 == " " }))
        else { return nil }
        self.init(line: line, severity: severity, text: String(parts[3].drop { $0 == " " }))
    }

    init(line: Int, severity: Severity, text: String) {
        (self.line, self.severity, self.text) = (line, severity, text)
    }

    /// Returns what a comment `// error: text` or `// warning: text` expects.
    static func expectation(in line: String) -> (Severity, String)? {
        let comment = line.drop { $0 == " " }
        for severity in [Severity.warning, .error] {
            let start = "// \(severity.rawValue): "
            if comment.hasPrefix(start) { return (severity, String(comment.dropFirst(start.count))) }
        }
        return nil
    }

    /// Whether this expectation is met by what the compiler says.
    func isMet(by said: Diagnostic) -> Bool {
        said.line == line && said.severity == severity && said.text.contains(text)
    }
}
