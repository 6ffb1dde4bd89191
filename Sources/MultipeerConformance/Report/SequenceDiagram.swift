/// The two sides of a case as a picture: SVG whose colours are those of the page that it is a part of.
///
/// It is drawn 384 units wide, so that its text is legible on a phone without zooming.
struct SequenceDiagram {
    private static let width = 384
    private static let testerX = 48
    private static let subjectX = 350
    /// Characters that fit between the two lines.
    private static let room = 46
    /// The same for the smaller text of fields.
    private static let fieldRoom = 54
    /// The rows that are drawn of either end of a long log.
    private static let shown = 90

    private let rows: [DiagramRow]

    init(_ log: [TrafficLog.Line]) {
        let all = DiagramRow.rows(log)
        guard all.count > 2 * SequenceDiagram.shown else {
            rows = all
            return
        }
        let left = all.count - 2 * SequenceDiagram.shown
        let gap = DiagramRow(seconds: all[SequenceDiagram.shown].seconds, content: .omission(left))
        rows = all.prefix(SequenceDiagram.shown) + [gap] + all.suffix(SequenceDiagram.shown)
    }

    /// The picture; `title` is what it shows, for readers who do not see it.
    func svg(_ title: String) -> String {
        var body = ""
        var y = 34
        for row in rows {
            let (drawing, height) = draw(row, at: y)
            body += drawing
            y += height
        }
        let (t, s) = (SequenceDiagram.testerX, SequenceDiagram.subjectX)
        return """
            <svg viewBox="0 0 \(SequenceDiagram.width) \(y + 8)" role="img">
            <title>\(title.escaped)</title>
            <line class="life" x1="\(t)" y1="26" x2="\(t)" y2="\(y + 4)"/>
            <line class="life" x1="\(s)" y1="26" x2="\(s)" y2="\(y + 4)"/>
            <text class="time" x="\(t - 34)" y="19">ms</text>
            <rect class="head" x="\(t - 30)" y="4" width="60" height="22" rx="4"/>
            <text class="name" x="\(t)" y="19">tester</text>
            <rect class="head" x="\(s - 32)" y="4" width="64" height="22" rx="4"/>
            <text class="name" x="\(s)" y="19">subject</text>
            \(body)</svg>

            """
    }

    /// Returns the drawing of a row, and how high it is.
    private func draw(_ row: DiagramRow, at y: Int) -> (String, Int) {
        let (t, s) = (SequenceDiagram.testerX, SequenceDiagram.subjectX)
        let middle = (t + s) / 2
        switch row.content {
        case .arrow(let isFromTester, let title, let fields):
            let times = row.count > 1 ? " ×\(row.count)" : ""
            var drawing = time(row, y + 19) + text("title", middle, y + 12, title + times)
            drawing += arrow(isFromTester, y + 17)
            let more = [row.link, fields].filter { !$0.isEmpty }.joined(separator: " · ")
            guard !more.isEmpty else { return (drawing, 28) }
            drawing += text("fields", middle, y + 28, more)
            return (drawing, 36)
        case .ending(let isFromTester, let title):
            let lines = SequenceDiagram.lines(
                [row.link, title].filter { !$0.isEmpty }.joined(separator: ": "))
            let (drawing, height) = paragraph("ending", lines, y + 12)
            let line = y + height + 7
            let end = isFromTester ? s - 12 : t + 12
            let cross = "M\(end - 4) \(line - 4)l8 8m0 -8l-8 8"
            let stroke = "<path class=\"cut\" d=\"M\(isFromTester ? t : s) \(line)H\(end)\"/>"
            return (
                time(row, line + 2) + drawing + stroke + "<path class=\"cross\" d=\"\(cross)\"/>\n",
                height + 16
            )
        case .request(let words):
            return (mark(row, "request", "asked: \(words)", y), 20)
        case .report(let words):
            return (mark(row, "report", "reports: \(words)", y), 20)
        case .note(let words):
            let (drawing, height) = paragraph("note", SequenceDiagram.lines(words), y + 12)
            return (time(row, y + 12) + drawing, height + 6)
        case .stage(let words):
            let (drawing, height) = paragraph("stage", SequenceDiagram.lines(words), y + 18)
            let line = "<path class=\"rule\" d=\"M\(t + 8) \(y + 6)H\(s - 8)\"/>\n"
            return (line + drawing, height + 14)
        case .verdict(let words):
            let lines = SequenceDiagram.lines(words, 54)
            let (drawing, height) = paragraph("verdict", lines, y + 20, SequenceDiagram.width / 2)
            let box =
                "<rect class=\"decided\" x=\"8\" y=\"\(y + 5)\" width=\"\(SequenceDiagram.width - 16)\" "
                + "height=\"\(height + 22)\" rx=\"5\"/>\n"
            let when = "decided after \(row.milliseconds) ms"
            return (
                box + drawing + text("when", SequenceDiagram.width / 2, y + height + 20, when), height + 34
            )
        case .pause(let seconds):
            let words = "\(Int((seconds * 1_000).rounded())) ms without an event"
            let line = "<path class=\"pause\" d=\"M\(t) \(y + 3)v14M\(s) \(y + 3)v14\"/>\n"
            return (line + text("note", middle, y + 13, words), 20)
        case .omission(let count):
            return (text("note", middle, y + 13, "… \(count) rows are not drawn: see the wire log …"), 20)
        }
    }

    private func arrow(_ isFromTester: Bool, _ y: Int) -> String {
        let (t, s) = (SequenceDiagram.testerX, SequenceDiagram.subjectX)
        let line =
            isFromTester
            ? "M\(t) \(y)H\(s - 1)M\(s - 7) \(y - 4)L\(s - 1) \(y)L\(s - 7) \(y + 4)"
            : "M\(s) \(y)H\(t + 1)M\(t + 7) \(y - 4)L\(t + 1) \(y)L\(t + 7) \(y + 4)"
        return "<path class=\"\(isFromTester ? "sent" : "received")\" d=\"\(line)\"/>\n"
    }

    /// A mark on the line of the subject: something between it and its application.
    private func mark(_ row: DiagramRow, _ kind: String, _ words: String, _ y: Int) -> String {
        let s = SequenceDiagram.subjectX
        let words = SequenceDiagram.cut(words, SequenceDiagram.room)
        return time(row, y + 13) + "<circle class=\"\(kind)\" cx=\"\(s)\" cy=\"\(y + 10)\" r=\"3.5\"/>"
            + "<text class=\"mark\" x=\"\(s - 9)\" y=\"\(y + 13)\">\(words.escaped)</text>\n"
    }

    private func time(_ row: DiagramRow, _ y: Int) -> String {
        "<text class=\"time\" x=\"\(SequenceDiagram.testerX - 9)\" y=\"\(y)\">\(row.milliseconds)</text>"
    }

    private func text(_ kind: String, _ x: Int, _ y: Int, _ words: String) -> String {
        let words = SequenceDiagram.cut(words, kind == "fields" ? SequenceDiagram.fieldRoom : 64).escaped
        return "<text class=\"\(kind)\" x=\"\(x)\" y=\"\(y)\">\(words)</text>\n"
    }

    private func paragraph(_ kind: String, _ lines: [String], _ y: Int, _ x: Int? = nil) -> (String, Int) {
        let middle = x ?? (SequenceDiagram.testerX + SequenceDiagram.subjectX) / 2
        let texts = lines.enumerated().map { text(kind, middle, y + 12 * $0.offset, $0.element) }
        return (texts.joined(), 12 * lines.count)
    }

    /// Returns the text broken at spaces into lines, and long words in pieces.
    private static func lines(_ text: String, _ room: Int = SequenceDiagram.room) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ").map(String.init) {
            var word = word
            if !line.isEmpty, line.count + 1 + word.count > room {
                lines.append(line)
                line = ""
            }
            while word.count > room {
                lines.append(String(word.prefix(room)))
                word = String(word.dropFirst(room))
            }
            line += line.isEmpty ? word : " \(word)"
        }
        return lines + (line.isEmpty ? [] : [line])
    }

    private static func cut(_ text: String, _ most: Int) -> String {
        text.count <= most ? text : text.prefix(most - 1) + "…"
    }
}

extension DiagramRow {
    fileprivate var milliseconds: Int { Int((seconds * 1_000).rounded()) }
}
