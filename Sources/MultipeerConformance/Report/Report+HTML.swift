extension Report {
    /// A page for a browser, in one file: each case with its clause, result and time; for each that failed, a sequence diagram.
    package func html(_ links: SpecificationLinks = SpecificationLinks()) -> String {
        var body = "<h1>Conformance with MPC/1</h1>\n"
        body += "<p class=\"about\"><code>\(order.shim.plain(most: 400).escaped)</code><br/>"
        body += "seed \(order.seed)\(order.isStrict ? ", strict" : ""), suite \(Suite.edition)</p>\n"
        body += counts + bar + attention
        var drawn = 0
        for (name, title) in sections {
            let outcomes = outcomes(of: name)
            body += "<h2 id=\"\(name)\">\(name): \(title.escaped)</h2>\n"
            body += "<p class=\"about\">\(Report.summary(outcomes))</p>\n"
            for outcome in outcomes {
                body += entry(outcome, links, isDrawn: outcome.isBad && drawn < mostDiagrams)
                drawn += outcome.isBad ? 1 : 0
            }
        }
        return HTMLPage.document("Conformance with MPC/1: \(summary)", body)
    }

    private var counts: String {
        let present = CaseVerdict.allCases.map { ($0, count($0)) }.filter { $0.1 > 0 }
        let chips = present.map { "<span class=\"chip \($0.rawValue)\">\($1) \($0.rawValue)</span>" }
        return "<p class=\"counts\">\(chips.joined(separator: " "))</p>\n"
    }

    /// The verdicts of the sections, each a bar.
    private var bar: String {
        var rows = "<table class=\"sections\">\n"
        for (name, title) in sections {
            let outcomes = outcomes(of: name)
            let parts = CaseVerdict.allCases.reversed().compactMap { verdict -> String? in
                let count = outcomes.count { $0.verdict == verdict }
                guard count > 0 else { return nil }
                return "<span class=\"\(verdict.rawValue)\" style=\"flex-grow:\(count)\">\(count)</span>"
            }
            rows += "<tr><th><a href=\"#\(name)\">\(name)</a></th><td class=\"wide\">\(title.escaped)</td>"
            rows += "<td class=\"bar\"><div>\(parts.joined())</div></td></tr>\n"
        }
        return rows + "</table>\n"
    }

    /// What is not as expected, with links to it.
    private var attention: String {
        let bad = outcomes.filter { $0.isBad || $0.verdict == .weak }
        guard !bad.isEmpty else { return "" }
        let items = bad.map { outcome in
            "<li><a class=\"id\" href=\"#\(outcome.anchor)\">\(outcome.name.escaped)</a> "
                + "<span class=\"chip \(outcome.verdict.rawValue)\">\(outcome.verdict.rawValue)</span> "
                + "\(outcome.subject.title.escaped): <em>\(outcome.reason.plain(most: 300).escaped)</em></li>\n"
        }
        return "<h2>Not as expected</h2>\n<ul class=\"attention\">\n\(items.joined())</ul>\n"
    }

    private func entry(_ outcome: CaseOutcome, _ links: SpecificationLinks, isDrawn: Bool) -> String {
        let one = outcome.subject
        let verdict = outcome.verdict.rawValue
        var text =
            "<details class=\"case\" id=\"\(outcome.anchor)\"\(isDrawn ? " open=\"\"" : "")>\n<summary>"
        text += "<span class=\"chip \(verdict)\">\(verdict)</span> "
        text += "<span class=\"id\">\(outcome.name.escaped)</span> "
        text += "<span class=\"what\">\(one.title.escaped)</span> "
        text += "<span class=\"clause\">\(HTMLPage.link("§ \(one.chapter)", links.address(of: one)))</span> "
        text += "<span class=\"ms\">\(outcome.milliseconds) ms</span></summary>\n<dl>\n"
        let rules = one.rules.map {
            HTMLPage.link("[\($0)]", links.address(ofRule: $0, chapter: one.chapter))
        }
        if !rules.isEmpty { text += "<dt>rules</dt><dd>\(rules.joined(separator: " "))</dd>\n" }
        var facts = [("tried", one.stimulus), ("expected", one.expectation)]
        if !outcome.reason.isEmpty { facts.append(("result", outcome.reason)) }
        for (name, value) in facts { text += "<dt>\(name)</dt><dd>\(value.escaped)</dd>\n" }
        text += "</dl>\n"
        if isDrawn {
            text += diagrams(outcome)
        } else if outcome.isBad {
            text += "<p class=\"about\">multipeer-conform repro shows the wire log.</p>\n"
        }
        return text + "</details>\n"
    }

    /// The preamble and what comes after the case are folded, unless the case was decided there.
    private func diagrams(_ outcome: CaseOutcome) -> String {
        let stages = outcome.log.stages
        var text = ""
        for (place, lines) in stages.enumerated() {
            let isCase = lines.first?.text.hasPrefix("\(outcome.subject.id):") == true
            let end = lines.firstIndex { $0.way == .verdict }
            let shown = end.map { Array(lines[...$0]) } ?? lines
            let picture = SequenceDiagram(shown).svg("\(outcome.name): what both sides sent")
            if isCase || end != nil {
                text += "<figure>\n\(picture)</figure>\n"
            } else {
                let title = place == 0 ? "before the case: an exchange that must work" : "after the case"
                text += "<details class=\"fold\"><summary>\(title)</summary>\n<figure>\n\(picture)</figure>\n"
                text += "</details>\n"
            }
        }
        text += "<details class=\"fold\"><summary>wire log, T is the tester, S the subject</summary>\n"
        return text + "<pre>\(outcome.excerpt.escaped)</pre>\n</details>\n"
    }
}

extension CaseOutcome {
    /// Whether the case failed, or could not be run.
    var isBad: Bool { verdict == .fail || verdict == .fault }

    fileprivate var anchor: String { name.replacing("/", with: "-").replacing("#", with: "-").escaped }
}

extension [TrafficLog.Line] {
    /// The lines of each stage of a case.
    fileprivate var stages: [[TrafficLog.Line]] {
        var stages: [[TrafficLog.Line]] = [[]]
        for line in self {
            if line.way == .stage, stages.last?.isEmpty == false { stages.append([]) }
            stages[stages.count - 1].append(line)
        }
        return stages.filter { !$0.isEmpty }
    }
}
