/// One idiom, from its title to the next.
struct Idiom {
    let title: String
    let mode: String
    private(set) var why: String?
    private(set) var instead: String?
    /// The number of lines with code.
    private(set) var length = 0
    /// The worst that the compiler says of it.
    private(set) var severity: Diagnostic.Severity?

    init(title: String, mode: String) { (self.title, self.mode) = (title, mode) }

    /// Reads a line that follows the title.
    mutating func add(_ line: String) {
        if let reason = line.remainder(after: "// why: ") {
            why = reason
        } else if let advice = line.remainder(after: "// instead: ") {
            instead = advice
        } else if let (found, _) = Diagnostic.expectation(in: line) {
            severity = severity == .error ? .error : found
        } else {
            length += line.isCode ? 1 : 0
        }
    }

    /// The row of the documentation's table.
    var row: String {
        let advice = [why, instead].compactMap(\.self).joined(separator: " ")
        let result =
            switch severity {
            case nil: "compiles"
            case .warning: "compiles with a warning. \(advice)"
            case .error: "does not compile. \(advice)"
            }
        return "| \(title) | \(mode) | \(result) |"
    }
}

extension String {
    /// Whether there is more than a comment in the line.
    var isCode: Bool {
        let text = drop { $0 == " " }
        return !text.isEmpty && !text.hasPrefix("//")
    }

    /// The rest of a line that begins with `start`; nil for any other line.
    func remainder(after start: String) -> String? {
        hasPrefix(start) ? String(dropFirst(start.count)) : nil
    }
}
