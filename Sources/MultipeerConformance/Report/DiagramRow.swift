/// What one line of the wire log is in a sequence diagram.
struct DiagramRow {
    enum Content {
        /// A frame, or bytes in its place.
        case arrow(isFromTester: Bool, title: String, fields: String)
        /// The end of a connection.
        case ending(isFromTester: Bool, title: String)
        /// A request to the subject's shim.
        case request(String)
        /// What the subject's application reports.
        case report(String)
        case note(String)
        case stage(String)
        case verdict(String)
        /// Time in which nothing happened.
        case pause(Double)
        /// Rows that are not drawn.
        case omission(Int)
    }

    let seconds: Double
    var content: Content
    /// The number of arrows alike that this one stands for.
    var count = 1
    /// Such as "link 1"; empty where there is none.
    var link = ""

    /// Returns the rows for a wire log.
    static func rows(_ log: [TrafficLog.Line]) -> [DiagramRow] {
        var rows: [DiagramRow] = []
        var before: Double?
        for line in log {
            guard let row = row(line) else { continue }
            if let before, line.seconds - before >= shortestPause {
                rows.append(DiagramRow(seconds: before, content: .pause(line.seconds - before)))
            }
            before = line.seconds
            if let last = rows.last, let title = row.arrowTitle, title == last.arrowTitle,
                row.link == last.link
            {
                rows[rows.count - 1].count += 1
            } else {
                rows.append(row)
            }
        }
        return rows
    }

    /// Seconds without an event that are shown as time that passes.
    private static let shortestPause = 0.4

    /// Kind and direction, which rows that become one have in common.
    private var arrowTitle: String? {
        guard case .arrow(let isFromTester, let title, _) = content else { return nil }
        return "\(isFromTester)\(title)"
    }

    private static func row(_ line: TrafficLog.Line) -> DiagramRow? {
        let (link, text) = split(line.text.withoutTokens)
        var row = DiagramRow(seconds: line.seconds, content: .note(line.text.withoutTokens.plain(most: 160)))
        switch line.way {
        case .sent, .received:
            let isFromTester = line.way == .sent
            row.link = link
            if let frame = line.frame {
                row.content = .arrow(
                    isFromTester: isFromTester, title: frame.title, fields: frame.fields.plain(most: 50))
            } else if isEnding(text) {
                row.content = .ending(isFromTester: isFromTester, title: text.plain(most: 90))
            } else {
                row.content = .arrow(isFromTester: isFromTester, title: text.plain(most: 40), fields: "")
            }
        case .asked:
            guard let words = request(line.text) else { return nil }
            row.content = .request(words.plain(most: 60))
        case .told:
            guard let words = event(line.text) else { return nil }
            row.content = .report(words.plain(most: 60))
        case .note: break
        case .stage: row.content = .stage(text.plain(most: 160))
        case .verdict: row.content = .verdict(line.text.withoutTokens.plain(most: 400))
        }
        return row
    }

    /// Returns the name of the link that a text begins with, and the rest.
    private static func split(_ text: String) -> (link: String, text: String) {
        guard text.hasPrefix("link "), let colon = text.firstIndex(of: ":") else { return ("", text) }
        return (String(text[..<colon]), String(text[text.index(after: colon)...].drop { $0 == " " }))
    }

    private static func isEnding(_ text: String) -> Bool {
        ["closes", "closed", "FIN", "RST", "refused"].contains { text.hasPrefix($0) }
    }

    /// Such as "connect"; nil for requests that only look after the process.
    private static func request(_ line: String) -> String? {
        guard let value = JSONValue(line: Array(line.utf8)), let op = value["op"]?.text,
            !["quit", "stats", "forget"].contains(op)
        else { return nil }
        let size = value["size"]?.int.map { " \($0) bytes" } ?? ""
        return op + size
    }

    /// Such as "connected"; nil for answers that only say that a request was understood.
    private static func event(_ line: String) -> String? {
        guard let value = JSONValue(line: Array(line.utf8)) else { return line }
        if let error = value["error"]?.text {
            return [value["event"]?.text ?? "error", error].joined(separator: ": ")
        }
        if value["unimplemented"]?.isTrue == true { return "unimplemented" }
        guard let event = value["event"]?.text else { return nil }
        let facts = ["state", "reason", "code", "result", "name"].compactMap { value[$0]?.text }
        let size = value["size"]?.int.map { ["\($0) bytes"] } ?? []
        return ([event] + facts + size).joined(separator: " ")
    }
}
