import MultipeerEssentials

/// Text in the form that man(7) and its formatters read.
enum Roff {
    /// Returns text in which no character is an instruction.
    static func text(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "…": result += "..."
            default: result.append(character)
            }
        }
        // A dot that begins a line would make it a request.
        return result.begins(with: ".") ? "\\&" + result : result
    }

    static func bold(_ words: String) -> String { "\\fB\(text(words))\\fR" }

    static func italic(_ words: String) -> String { "\\fI\(text(words))\\fR" }

    static func reference(_ page: String) -> String { ".BR \(text(page)) (1)" }

    /// Returns terms, each with its explanation.
    static func list(_ rows: [(term: String, text: String)]) -> String {
        rows.map { ".TP\n\($0)\n\(filled($1))" }.joined(separator: "\n")
    }

    /// Returns the paragraphs of a help text. Lines that begin with spaces are shown as they are.
    static func paragraphs(_ text: String) -> String {
        var blocks: [String] = []
        var filled: [Substring] = []
        var shown: [Substring] = []
        func end() {
            if !filled.isEmpty { blocks.append(".PP\n" + Roff.filled(filled.joined(separator: " "))) }
            if !shown.isEmpty { blocks.append(Roff.shown(shown)) }
            (filled, shown) = ([], [])
        }
        for line in text.pieces(at: "\n", keepingEmpty: true) {
            if line.allSatisfy({ $0 == " " }) {
                end()
            } else if line.begins(with: " ") {
                if !filled.isEmpty { end() }
                shown.append(line)
            } else {
                if !shown.isEmpty { end() }
                filled.append(line)
            }
        }
        end()
        let all = blocks.joined(separator: "\n")
        // A section begins with a paragraph by itself.
        return all.begins(with: ".PP\n") || all.begins(with: ".sp\n") ? String(all.dropFirst(4)) : all
    }

    private static func filled(_ text: String) -> String {
        Columns.paragraphs(text, width: 72).pieces(at: "\n").map { Roff.text(String($0)) }
            .joined(separator: "\n")
    }

    private static func shown(_ lines: [Substring]) -> String {
        let indent = lines.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        let rows = lines.map { Roff.text(String($0.dropFirst(indent))) }
        return ".sp\n.RS 4\n.nf\n" + rows.joined(separator: "\n") + "\n.fi\n.RE"
    }
}
