extension Report {
    /// The files of a folder for a browser: an index, and a page with expectation and wire log for each outcome.
    package var pages: [(name: String, text: String)] {
        [("index.html", index)] + outcomes.map { (page(of: $0), text(of: $0)) }
    }

    private func page(of outcome: CaseOutcome) -> String {
        outcome.name.replacing("/", with: "-").replacing("#", with: "-") + ".html"
    }

    private var index: String {
        var body =
            "<h1>Conformance with MPC/1</h1>\n<p><code>\(order.shim.escaped)</code>, seed \(order.seed): "
        body += "\(summary)</p>\n"
        for (name, title) in sections {
            let outcomes = outcomes(of: name)
            body += "<h2>\(name): \(title.escaped)</h2>\n<p>\(Report.summary(outcomes))</p>\n<table>\n"
            body += "<tr><th>case<th>§<th>verdict<th>what is tried<th>expected<th>s</tr>\n"
            for outcome in outcomes {
                let one = outcome.subject
                body += "<tr><td><a href=\"\(page(of: outcome))\">\(outcome.name)</a><td>\(one.chapter)"
                body += "<td class=\"\(outcome.verdict.rawValue)\">\(outcome.verdict.rawValue)"
                body +=
                    "<td>\(one.stimulus.escaped)<td>\(one.expectation.escaped)<td>\(outcome.seconds.brief)</tr>\n"
            }
            body += "</table>\n"
        }
        return document("Conformance with MPC/1", body)
    }

    private func text(of outcome: CaseOutcome) -> String {
        let one = outcome.subject
        var rows = [
            ("chapter", one.chapter), ("level", one.level.rawValue), ("stimulus", one.stimulus),
            ("expected", one.expectation), ("rules", one.rules.joined(separator: ", ")),
            ("verdict", outcome.verdict.rawValue), ("time", outcome.seconds.brief + " s"),
        ]
        if !outcome.reason.isEmpty { rows.append(("what came", outcome.reason)) }
        var body =
            "<p><a href=\"index.html\">all cases</a></p>\n<h1>\(outcome.name): \(one.title.escaped)</h1>\n<table>\n"
        for (name, value) in rows { body += "<tr><th>\(name)<td>\(value.escaped)</tr>\n" }
        body += "</table>\n<h2>Wire log</h2>\n<p>T is the tester, S the subject.</p>\n"
        body += "<pre>\(outcome.logText.escaped)</pre>\n"
        return document(outcome.name, body)
    }

    private func document(_ title: String, _ body: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <title>\(title.escaped)</title>
        <style>
        body { font: 15px/1.4 sans-serif; margin: 2em; max-width: 80em; }
        table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: 3px 8px; text-align: left; }
        td, th { vertical-align: top; } pre { background: #f6f6f6; padding: 1em; overflow-x: auto; }
        .PASS { background: #d8f0d8; } .WEAK { background: #f6f0c8; } .SKIP { background: #e8e8e8; }
        .FAIL, .FAULT { background: #f6d0d0; }
        </style>
        <body>
        \(body)</body>
        </html>

        """
    }
}
