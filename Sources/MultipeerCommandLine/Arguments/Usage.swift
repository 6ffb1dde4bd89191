/// The arguments of one command, and its `--help`.
package struct Usage: Equatable, Sendable {
    /// The words that name the command, after the name of the program; empty for a program with one command.
    package let path: [String]
    /// The operands as the first line shows them, and how many there may be.
    package let operands: String
    package let mostOperands: Int
    package let summary: String
    /// Paragraphs between the summary and the options.
    package let details: String
    package let options: [Option]
    /// The exit codes that this command can end with, besides 0 and 2.
    package let exits: [ExitCode]
    /// The meanings of exit codes that differ for this command.
    package let meanings: [ExitCode: String]

    /// An option that is spelled `--name` or `--name VALUE`.
    package struct Option: Equatable, Sendable {
        package let name: String
        /// The placeholder for the value in the help; nil for an option without a value.
        package let value: String?
        package let isRepeatable: Bool
        package let summary: String

        /// Creates an option with a value.
        package init(_ name: String, _ value: String, isRepeatable: Bool = false, _ summary: String) {
            self.name = name
            self.value = value
            self.isRepeatable = isRepeatable
            self.summary = summary
        }

        /// Creates an option without a value.
        package init(_ name: String, _ summary: String) {
            self.name = name
            value = nil
            isRepeatable = false
            self.summary = summary
        }

        var spelling: String { value.map { "\(name) \($0)" } ?? name }
    }

    package init(
        _ path: [String], operands: String = "", mostOperands: Int = 0, _ summary: String,
        details: String = "",
        options: [Option] = [], exits: [ExitCode] = [], meanings: [ExitCode: String] = [:]
    ) {
        self.path = path
        self.operands = operands
        self.mostOperands = mostOperands
        self.summary = summary
        self.details = details
        self.options = options + [Option("--help", "show this help")]
        self.exits = exits
        self.meanings = meanings
    }

    /// The command as it is typed.
    package var command: String { ([Terminal.name] + path).joined(separator: " ") }

    package func option(_ name: String) -> Option? { options.first { $0.name == name } }
}

extension Usage {
    /// What `--help` prints.
    package var help: String {
        let synopsis = [command, options.count > 1 ? "[options]" : "", operands].filter { !$0.isEmpty }
        var paragraphs = ["usage: " + synopsis.joined(separator: " "), summary]
        if !details.isEmpty { paragraphs.append(details) }
        paragraphs.append("options:\n" + Columns.lines(options.map { ($0.spelling, $0.summary) }))
        let codes = ([.success, .usage] + exits).sorted { $0.rawValue < $1.rawValue }
        let endings = codes.map { ("\($0.rawValue)", meanings[$0] ?? $0.meaning) }
        paragraphs.append("exit codes:\n" + Columns.lines(endings))
        return paragraphs.joined(separator: "\n\n") + "\n"
    }
}

/// Text in two columns, wrapped to fit a terminal.
package enum Columns {
    private static let width = 100

    package static func lines(_ rows: [(String, String)]) -> String {
        let left = min(24, rows.map(\.0.count).max() ?? 0)
        return rows.map { term, text in
            var lines = wrap(text, to: width - left - 4)
            let first = term.count > left ? "" : lines.removeFirst()
            let head = "  " + term.padded(to: left) + (first.isEmpty ? "" : "  " + first)
            let indent = String(repeating: " ", count: left + 4)
            return ([head] + lines.map { indent + $0 }).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static func wrap(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension String {
    /// Returns the text padded with spaces to at least `width` characters.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
