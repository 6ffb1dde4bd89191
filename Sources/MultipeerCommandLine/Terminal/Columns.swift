import MultipeerEssentials

/// Text wrapped to fit a terminal, in one column or two.
package enum Columns {
    /// That of a terminal whose width is unknown, and of a pipe.
    package static let standardWidth = 80
    /// Longer lines are hard to read.
    private static let widest = 100
    private static let narrowest = 40

    /// The width for help on standard output.
    package static var ofOutput: Int {
        guard DescriptorStream.output.isTerminal else { return standardWidth }
        return min(widest, max(narrowest, Terminal.size(of: .output).width))
    }

    /// Returns terms, each with its explanation on its right.
    package static func lines(_ rows: [(String, String)], width: Int = standardWidth) -> String {
        let left = min(width / 3, rows.map(\.0.count).max() ?? 0)
        return rows.map { term, text in
            var lines = wrap(text, to: width - left - 4)
            let first = term.count > left ? "" : lines.removeFirst()
            let head = "  " + term.padded(to: left) + (first.isEmpty ? "" : "  " + first)
            let indent = String(repeating: " ", count: left + 4)
            return ([head] + lines.map { indent + $0 }).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// Returns the text with each paragraph wrapped. Lines that begin with spaces are left as they are.
    package static func paragraphs(_ text: String, width: Int) -> String {
        var result: [String] = []
        var paragraph: [Substring] = []
        func end() {
            result += wrap(paragraph.joined(separator: " "), to: width)
            paragraph = []
        }
        for line in text.pieces(at: "\n", keepingEmpty: true) {
            if line.isEmpty || line.begins(with: " ") {
                if !paragraph.isEmpty { end() }
                result.append(String(line))
            } else {
                paragraph.append(line)
            }
        }
        if !paragraph.isEmpty { end() }
        return result.joined(separator: "\n")
    }

    /// Returns the text with its spaces as they are, except that lines which are too long end at one. A longer word stays whole,
    /// and so does what is quoted, which may be a command to copy, unless it is longer than a line.
    package static func broken(_ text: String, width: Int) -> String {
        text.pieces(at: "\n", keepingEmpty: true).map { line in
            guard String(line).columns > width else { return String(line) }
            let indent = String(line.prefix { $0 == " " })
            let words = words(line.dropFirst(indent.count), width)
            var lines = [indent + (words.first ?? "")]
            for word in words.dropFirst() {
                let longer = "\(lines[lines.count - 1]) \(word)"
                if longer.columns <= width {
                    lines[lines.count - 1] = longer
                } else {
                    lines.append(word)
                }
            }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// Returns the parts of a line that stay whole.
    private static func words(_ line: Substring, _ width: Int) -> [String] {
        var rest = line.pieces(at: " ", keepingEmpty: true)[...]
        var words: [String] = []
        while let word = rest.popFirst() {
            let start = word.drop { $0 == "(" }
            let end =
                start.first == "'" && !closesQuote(start.dropFirst())
                ? rest.firstIndex(where: closesQuote) : nil
            let quoted = end.map { ([word] + rest[...$0]).joined(separator: " ") }
            if let end, let quoted, quoted.columns <= width {
                words.append(quoted)
                rest = rest[(end + 1)...]
            } else {
                words.append(String(word))
            }
        }
        return words
    }

    private static func closesQuote(_ word: Substring) -> Bool {
        word.reversed().drop { "),.;:?!".contains($0) }.first == "'"
    }

    private static func wrap(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.pieces(at: " ") {
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
