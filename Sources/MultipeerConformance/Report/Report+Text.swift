extension Report {
    /// A table by section for a terminal; cases that did not pass have their reason.
    package var text: String {
        var lines: [String] = []
        for (name, title) in sections {
            let outcomes = outcomes(of: name)
            lines.append("\(name)  \(title): \(Report.summary(outcomes))")
            for outcome in outcomes where outcome.verdict != .pass {
                lines.append("  \(outcome.verdict.rawValue)  \(outcome.name)  \(outcome.subject.title)")
                if outcome.verdict != .skip {
                    lines.append("        expected: \(outcome.subject.expectation)")
                }
                lines.append("        \(outcome.reason)")
            }
        }
        lines.append("\(summary); seed \(order.seed)")
        return lines.joined(separator: "\n") + "\n"
    }

    /// A summary in Markdown.
    package var markdown: String {
        var lines = ["# Conformance with MPC/1", "", "`\(order.shim)`, seed \(order.seed): \(summary)", ""]
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
            lines.append("| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension CaseOutcome {
    /// The wire log, one line per event.
    package var logText: String {
        log.map { line in
            let seconds =
                String(repeating: " ", count: max(0, 6 - line.seconds.brief.count)) + line.seconds.brief
            return "\(seconds)  \(line.way.rawValue)  \(line.text)"
        }.joined(separator: "\n") + "\n"
    }
}
