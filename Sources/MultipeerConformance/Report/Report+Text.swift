extension Report {
    /// A table by section for a terminal; cases that did not pass have their reason.
    package var text: String {
        var lines: [String] = []
        for (name, title) in sections {
            let outcomes = outcomes(of: name)
            lines.append("\(name)  \(title): \(Report.summary(outcomes))")
            for outcome in outcomes where outcome.verdict != .pass && !outcome.isUnjudged {
                lines.append("  \(outcome.verdict.rawValue)  \(outcome.name)  \(outcome.subject.title)")
                if outcome.verdict != .skip {
                    lines.append("        expected: \(outcome.subject.expectation)")
                }
                lines.append("        \(outcome.reason)")
            }
        }
        lines += unjudged + ["\(summary); seed \(order.seed)"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The cases that were not judged from outside, in lines of 80 columns.
    private var unjudged: [String] {
        let outcomes = outcomes.filter(\.isUnjudged)
        var ids: [String] = []
        for outcome in outcomes where ids.last != outcome.subject.id { ids.append(outcome.subject.id) }
        guard !ids.isEmpty else { return [] }
        var lines = ["not judged, since they need control of the peer: \(ids.count) cases"]
        for start in stride(from: 0, to: ids.count, by: 8) {
            let row = ids[start..<min(start + 8, ids.count)]
            lines.append("  " + row.map { $0.padded(to: 9) }.joined().trimmed)
        }
        return lines
    }

    /// A summary in Markdown.
    package var markdown: String {
        var lines = [
            "# Conformance with MPC/1", "",
            "`\(order.shim.plain(most: 400))`, seed \(order.seed): \(summary)", "",
        ]
        lines += ["| section | " + CaseVerdict.allCases.map(\.rawValue).joined(separator: " | ") + " |"]
        lines += ["|---|" + CaseVerdict.allCases.map { _ in "---|" }.joined()]
        for (name, title) in sections {
            let outcomes = outcomes(of: name)
            let counts = CaseVerdict.allCases.map { verdict in "\(outcomes.count { $0.verdict == verdict })" }
            lines.append("| \(name): \(title) | \(counts.joined(separator: " | ")) |")
        }
        let rest = outcomes.filter { $0.verdict != .pass }
        guard !rest.isEmpty else { return lines.joined(separator: "\n") + "\n" }
        lines += ["", "| case | verdict | expected | what came |", "|---|---|---|---|"]
        for outcome in rest {
            let cells = [outcome.name, outcome.verdict.rawValue, outcome.subject.expectation, outcome.reason]
            lines.append("| " + cells.map(Self.inMarkdown).joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Escapes what would be markup: some of a cell's text is a peer's.
    private static func inMarkdown(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if "\\`*_{}[]<>()#+!|&~".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }
}

extension CaseOutcome {
    /// The wire log, a line for each event, without secrets.
    package var logLines: [String] { log.map(CaseOutcome.text) }

    private static func text(_ line: TrafficLog.Line) -> String {
        "\(line.seconds.precise.padded(before: 8))  \(line.way.rawValue)  \(line.text.withoutTokens.plain())"
    }

    /// The wire log as one text.
    package var logText: String { logLines.joined(separator: "\n") + "\n" }

    /// The beginning and the end of the wire log, for files that have those of all cases.
    var excerpt: String {
        guard log.count > 2 * CaseOutcome.shown else { return logText }
        let gap = "… \(log.count - 2 * CaseOutcome.shown) lines left out: run 'multipeer-conform repro' …"
        let first = log.prefix(CaseOutcome.shown).map(CaseOutcome.text)
        let last = log.suffix(CaseOutcome.shown).map(CaseOutcome.text)
        return (first + [gap] + last).joined(separator: "\n") + "\n"
    }

    /// The number of lines of either end in an excerpt.
    private static let shown = 200

    /// Whether it was left out because the subject is judged from outside.
    package var isUnjudged: Bool { verdict == .skip && reason == OutsideCases.reason }

    /// How long the case took.
    package var milliseconds: Int { Int((seconds * 1_000).rounded()) }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    /// Without the spaces at its end.
    var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }

    fileprivate func padded(before width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
