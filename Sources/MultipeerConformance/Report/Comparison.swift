/// Reports of several implementations side by side, as a matrix.
package struct Comparison: Sendable {
    /// One implementation.
    package struct Column: Sendable {
        package let name: String
        let report: SavedReport

        package init(name: String, report: SavedReport) {
            self.name = name
            self.report = report
        }
    }

    /// A case, with the verdict in each report; nil where it was not run.
    struct Row: Sendable {
        let name: String
        let section: String
        let level: String
        let title: String
        let lines: [SavedReport.Line?]

        var verdicts: [String?] { lines.map { $0?.verdict } }
        var isDifferent: Bool { Set(verdicts).count > 1 }
    }

    /// Why reports cannot be compared.
    package struct Incomparable: Error, CustomStringConvertible {
        package let description: String
    }

    package let columns: [Column]
    let rows: [Row]
    /// What a reader must know before believing the matrix.
    package let remarks: [String]

    package init(_ columns: [Column]) throws(Incomparable) {
        guard columns.count >= 2 else { throw Incomparable(description: "two reports are required") }
        if let (one, other) = Comparison.difference(columns, \.suite) {
            throw Incomparable(
                description: "\(one.name) and \(other.name) are of different editions of the suite: "
                    + "\(one.report.suite ?? "an early one") and \(other.report.suite ?? "an early one")")
        }
        self.columns = columns
        rows = Comparison.rows(columns)
        remarks = Comparison.remarks(columns)
    }

    /// Returns the first two columns that differ in a field of the report.
    private static func difference<Value: Equatable>(
        _ columns: [Column], _ field: (SavedReport) -> Value
    ) -> (Column, Column)? {
        columns.first { field($0.report) != field(columns[0].report) }.map { (columns[0], $0) }
    }

    private static func remarks(_ columns: [Column]) -> [String] {
        var remarks: [String] = []
        if difference(columns, \.seed) != nil {
            let seeds = columns.map { "\($0.name) \($0.report.seed)" }
            remarks.append("the seeds differ: \(seeds.joined(separator: ", "))")
        }
        if difference(columns, \.isStrict) != nil {
            let strict = columns.filter(\.report.isStrict).map(\.name)
            remarks.append("only \(strict.joined(separator: ", ")) ran with --strict")
        }
        return remarks
    }

    private static func rows(_ columns: [Column]) -> [Row] {
        var places: [String: Int] = [:]
        var rows: [(line: SavedReport.Line, name: String, lines: [SavedReport.Line?])] = []
        for (place, column) in columns.enumerated() {
            for line in column.report.cases {
                let name =
                    "\(line.id)/\(line.order)" + (line.repetition > 0 ? "#\(line.repetition &+ 1)" : "")
                if places[name] == nil {
                    places[name] = rows.count
                    rows.append((line, name, columns.map { _ in nil }))
                }
                rows[places[name, default: 0]].lines[place] = line
            }
        }
        return rows.map {
            Row(
                name: $0.name.plain(most: 60), section: $0.line.section.plain(most: 20),
                level: $0.line.level.plain(most: 20), title: $0.line.title.plain(most: 200), lines: $0.lines)
        }
    }

    // MARK: Sums

    /// The sections with their levels, in the order of the reports, and the rows of each.
    var groups: [(section: String, level: String, rows: [Row])] {
        var keys: [[String]] = []
        for row in rows where !keys.contains([row.section, row.level]) {
            keys.append([row.section, row.level])
        }
        return keys.map { key in
            (key[0], key[1], rows.filter { $0.section == key[0] && $0.level == key[1] })
        }
    }

    /// Such as "37/40", and in brackets what is neither passed nor failed: skipped, or not run.
    static func score(_ rows: [Row], _ place: Int) -> String {
        let verdicts = rows.map { $0.verdicts[place] }
        let passed = verdicts.count { $0 == "PASS" || $0 == "WEAK" }
        let open = verdicts.count { $0 == nil || $0 == "SKIP" }
        return "\(passed)/\(rows.count - open)" + (open > 0 ? " (\(open) open)" : "")
    }

    // MARK: Text

    /// A table for a terminal: what differs, then the sections.
    package var text: String {
        let names = columns.map { $0.name.plain(most: 24) }
        var text = remarks.map { "note: \($0.plain())\n" }.joined()
        let different = rows.filter(\.isDifferent)
        let cells = different.map { row in [row.name] + row.verdicts.map { $0?.plain(most: 8) ?? "–" } }
        if different.isEmpty {
            text += "no case differs\n"
        } else {
            text += "\(different.count) of \(rows.count) differ\n"
            text += Comparison.table([["case"] + names] + cells)
        }
        let sums = groups.map { group in
            ["\(group.section) \(group.level)"] + columns.indices.map { Comparison.score(group.rows, $0) }
        }
        let total = [["all"] + columns.indices.map { Comparison.score(rows, $0) }]
        return text + "\n" + Comparison.table([["passed"] + names] + sums + total)
    }

    private static func table(_ rows: [[String]]) -> String {
        let widths = rows[0].indices.map { place in rows.map { $0[place].count }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return cells.joined(separator: "  ").trimmed
        }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: HTML

    /// A page with the same, and all cases.
    package var html: String {
        var body = "<h1>Conformance with MPC/1</h1>\n"
        body += remarks.map { "<p><span class=\"chip WEAK\">note</span> \($0.escaped)</p>\n" }.joined()
        body += "<h2>Implementations</h2>\n<dl>\n"
        for column in columns {
            body += "<dt>\(column.name.plain(most: 60).escaped)</dt><dd><code>"
            body += "\(column.report.shim.plain(most: 400).escaped)</code>, seed \(column.report.seed)</dd>\n"
        }
        body += "</dl>\n"
        let different = rows.filter(\.isDifferent)
        let same = rows.filter { !$0.isDifferent }
        body += "<h2>What differs: \(different.count) of \(rows.count)</h2>\n"
        body += different.isEmpty ? "<p>no case differs</p>\n" : matrix(different)
        body += "<h2>Sections and levels</h2>\n" + sums
        body += "<h2>What is the same: \(same.count)</h2>\n"
        for group in groups {
            let rows = group.rows.filter { !$0.isDifferent }
            guard !rows.isEmpty else { continue }
            body += "<details class=\"fold\"><summary>\(group.section.escaped) \(group.level.escaped): "
            body += "\(rows.count)</summary>\n\(matrix(rows))</details>\n"
        }
        return HTMLPage.document("Conformance with MPC/1: \(columns.count) implementations", body)
    }

    private var heads: String {
        columns.map { "<th>\($0.name.plain(most: 60).escaped)</th>" }.joined()
    }

    private var sums: String {
        var text =
            "<div class=\"scroll\"><table class=\"matrix\">\n<tr><th>section</th><th>level</th>\(heads)</tr>\n"
        let all = [(section: "all", level: "", rows: rows)]
        for group in groups + all {
            let cells = columns.indices.map { place -> String in
                let isBad = group.rows.contains { ["FAIL", "FAULT"].contains($0.verdicts[place] ?? "") }
                return "<td class=\"\(isBad ? "FAIL" : "PASS")\">\(Comparison.score(group.rows, place))</td>"
            }
            text +=
                "<tr><td>\(group.section.escaped)</td><td>\(group.level.escaped)</td>\(cells.joined())</tr>\n"
        }
        return text + "</table></div>\n"
    }

    private func matrix(_ rows: [Row]) -> String {
        var text = "<div class=\"scroll\"><table class=\"matrix\">\n<tr><th>case</th>\(heads)</tr>\n"
        for row in rows {
            let cells = row.lines.map { line -> String in
                guard let line else { return "<td>–</td>" }
                let isKnown = CaseVerdict(rawValue: line.verdict) != nil
                let reason = line.reason.isEmpty ? "" : "<br/>\(line.reason.plain(most: 200).escaped)"
                return "<td><span class=\"chip \(isKnown ? line.verdict : "")\">"
                    + "\(line.verdict.plain(most: 8).escaped)</span>\(reason)</td>"
            }
            text += "<tr><td><span class=\"id\">\(row.name.escaped)</span><br/>\(row.title.escaped)</td>"
            text += "\(cells.joined())</tr>\n"
        }
        return text + "</table></div>\n"
    }
}
