import MultipeerEssentials

/// The arguments of one command, and its `--help`.
package struct Usage: Equatable, Sendable {
    /// The words that name the command, after the name of the program; empty for a program with one command.
    package let path: [String]
    /// The operands as the first line shows them, and how many there may be.
    package let operands: String
    package let mostOperands: Int
    /// All words that an operand can be, if they are known; otherwise a shell completes what `operands` says.
    package let words: [String]
    package let summary: String
    /// Command lines to start with, a line each; they begin with two spaces.
    package let examples: String
    /// Paragraphs of the whole help. Lines that begin with spaces are shown as they are, others are wrapped.
    package let details: String
    package let options: [Option]
    /// The options that the short help shows, by their names, in this order; empty for all.
    package let common: [String]
    /// The exit codes that this command can end with, besides 0 and 2.
    package let exits: [ExitCode]
    /// The meanings of exit codes that differ for this command.
    package let meanings: [ExitCode: String]

    package init(
        _ path: [String], operands: String = "", mostOperands: Int = 0, words: [String] = [],
        _ summary: String,
        examples: String = "", details: String = "",
        options: [Option] = [], common: [String] = [], exits: [ExitCode] = [],
        meanings: [ExitCode: String] = [:]
    ) {
        self.path = path
        self.operands = operands
        self.mostOperands = mostOperands
        self.words = words
        self.summary = summary
        self.examples = examples
        self.details = details
        self.options = options + [Option("--help", short: "h", "show this help")]
        self.common = common
        self.exits = exits
        self.meanings = meanings
    }

    /// The command as it is typed.
    package var command: String { ([Terminal.name] + path).joined(separator: " ") }

    /// Returns the option that is spelled like this, in full or with one letter.
    package func option(_ word: String) -> Option? {
        options.first { $0.name == word || $0.short.map { "-\($0)" } == word }
    }
}

extension Usage {
    /// An option that is spelled `--name` or `--name VALUE`, and perhaps with one letter.
    package struct Option: Equatable, Sendable {
        package let name: String
        /// The letter after one hyphen.
        package let short: Character?
        /// The placeholder for the value in the help; nil for an option without a value.
        package let value: String?
        package let isRepeatable: Bool
        /// All values, if they are known; otherwise a shell completes what the placeholder says.
        package let words: [String]
        /// What it is for. The short help shows the part before the first semicolon.
        package let summary: String

        /// Creates an option with a value.
        package init(
            _ name: String, short: Character? = nil, _ value: String, words: [String] = [],
            isRepeatable: Bool = false, _ summary: String
        ) {
            self.name = name
            self.short = short
            self.value = value
            self.words = words
            self.isRepeatable = isRepeatable
            self.summary = summary
        }

        /// Creates an option without a value.
        package init(_ name: String, short: Character? = nil, _ summary: String) {
            self.name = name
            self.short = short
            value = nil
            words = []
            isRepeatable = false
            self.summary = summary
        }

        /// Both spellings, in line with those of other options.
        var spelling: String {
            let long = value.map { "\(name) \($0)" } ?? name
            return short.map { "-\($0), \(long)" } ?? "    \(long)"
        }

        var brief: String { String(summary.prefix { $0 != ";" }) }
    }
}

// MARK: help

extension Usage {
    /// Returns what `--help` prints, which fits a terminal of 80 columns and 24 lines: everything if there is room for it, otherwise
    /// the options that most people use, and examples.
    package func help(width: Int) -> String {
        let whole = wholeHelp(width: Columns.standardWidth)
        guard whole.pieces(at: "\n", keepingEmpty: true).count > Usage.mostLines else {
            return wholeHelp(width: width)
        }
        var paragraphs = [synopsis, summary]
        let shown = common.isEmpty ? options : (common + ["--help"]).compactMap(option)
        paragraphs.append(
            "options:\n" + Columns.lines(shown.map { ($0.spelling, $0.brief) }, width: width))
        if !examples.isEmpty { paragraphs.append("examples:\n\(examples)") }
        paragraphs.append("more: \(([Terminal.name, "help"] + path).joined(separator: " ")) --all")
        return paragraphs.joined(separator: "\n\n") + "\n"
    }

    /// Returns everything there is to say about the command.
    package func wholeHelp(width: Int) -> String {
        var paragraphs = [synopsis, summary]
        if !examples.isEmpty { paragraphs.append("examples:\n\(examples)") }
        if !details.isEmpty { paragraphs.append(Columns.paragraphs(details, width: width)) }
        paragraphs.append(
            "options:\n" + Columns.lines(options.map { ($0.spelling, $0.summary) }, width: width))
        let codes = ([.success, .usage] + exits).sorted { $0.rawValue < $1.rawValue }
        let endings = codes.map { ("\($0.rawValue)", meanings[$0] ?? $0.meaning) }
        paragraphs.append("exit codes:\n" + Columns.lines(endings, width: width))
        return paragraphs.joined(separator: "\n\n") + "\n"
    }

    /// A terminal's lines without the one of the prompt after the help.
    private static let mostLines = 24

    private var synopsis: String {
        let words = [command, options.count > 1 ? "[options]" : "", operands].filter { !$0.isEmpty }
        return "usage: " + words.joined(separator: " ")
    }
}
