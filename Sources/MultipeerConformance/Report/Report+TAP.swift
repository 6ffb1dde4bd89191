extension Report {
    /// The Test Anything Protocol, version 14: a line for each outcome, and a YAML block for what was not as expected.
    package var tap: String {
        var lines = ["TAP version 14", "1..\(outcomes.count)"]
        for (number, outcome) in outcomes.enumerated() {
            let isGood = outcome.verdict != .fail && outcome.verdict != .fault
            let title = "\(outcome.name) \(outcome.subject.title)".tapDescription
            let skip = outcome.verdict == .skip ? " # SKIP \(outcome.reason.plain(most: 400))" : ""
            lines.append("\(isGood ? "ok" : "not ok") \(number + 1) - \(title)\(skip)")
            lines += ["  ---"] + facts(of: outcome).map { "  \($0): \($1)" } + ["  ..."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func facts(of outcome: CaseOutcome) -> [(String, String)] {
        let one = outcome.subject
        var facts = [("verdict", outcome.verdict.rawValue), ("clause", one.chapter.quoted)]
        if !one.rules.isEmpty { facts.append(("rules", one.rules.joined(separator: ", ").quoted)) }
        facts.append(("duration_ms", "\(outcome.milliseconds)"))
        if outcome.verdict != .pass, outcome.verdict != .skip {
            facts.append(("expected", one.expectation.quoted))
            facts.append(("message", outcome.reason.quoted))
        }
        return facts
    }
}

extension String {
    /// A description of TAP, in which `#` begins a directive.
    fileprivate var tapDescription: String {
        plain().replacing("\\", with: "\\\\").replacing("#", with: "\\#")
    }

    /// A string of YAML on one line.
    fileprivate var quoted: String {
        "\"\(plain().replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
