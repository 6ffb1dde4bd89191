import MultipeerCommandLine

/// The line that shows a transfer on a terminal: what, how far, how much, how fast, and how long it will take.
package struct TransferLine: Equatable, Sendable {
    package var name: String
    /// Which of how many files it is; nil when there is one, or nobody knows.
    package var place: FilePosition?
    package var completed: UInt64
    /// Nil while nobody knows, as for some sources on the web.
    package var total: UInt64?
    /// Bytes for each second.
    package var rate: Double
    package var left: Duration?
    /// Whether the other side has all of it: only then is it 100 %.
    package var isOver: Bool

    package init(
        name: String, place: FilePosition? = nil, completed: UInt64, total: UInt64? = nil, rate: Double,
        left: Duration? = nil, isOver: Bool = false
    ) {
        self.name = name
        self.place = place
        self.completed = completed
        self.total = total
        self.rate = rate
        self.left = left
        self.isOver = isOver
    }

    /// The line in at most `width` columns. What matters least goes first when it is narrow: the bar, the number of the
    /// file, the time, the rate, the bytes; then the name is cut.
    package func render(width: Int) -> String {
        let label = name.printable
        var cells = [percent, bytes, "\(HumanReadable.bytes(rate))/s", time].filter { !$0.isEmpty }
        var head = place.map { "\($0.number)/\($0.count) " } ?? ""
        func room() -> Int { width - head.count - cells.reduce(0) { $0 + 2 + $1.columns } }
        let enough = min(label.columns, TransferLine.shortestName)
        if room() < enough { head = "" }
        while cells.count > 1, room() < enough { cells.removeLast() }
        guard room() > 0 else { return label.fitted(to: max(0, width)) }
        let bar = room() - label.columns - 4
        if let fraction, bar >= TransferLine.shortestBar {
            let length = min(bar, TransferLine.longestBar)
            let done = Int(fraction * Double(length))
            let track = String(repeating: "#", count: done) + String(repeating: "-", count: length - done)
            return ([head + label, "[\(track)]"] + cells).joined(separator: "  ")
        }
        return ([head + label.fitted(to: room())] + cells).joined(separator: "  ")
    }

    private static let shortestName = 12
    private static let shortestBar = 10
    private static let longestBar = 30

    /// From 0 to 1.
    private var fraction: Double? {
        guard let total else { return nil }
        if isOver { return 1 }
        return total == 0 ? 0 : min(Double(completed) / Double(total), 1.nextDown)
    }

    private var percent: String {
        guard let fraction else { return "" }
        let text = "\(Int(fraction * 100))%"
        return String(repeating: " ", count: max(0, 4 - text.count)) + text
    }

    private var bytes: String {
        let done = HumanReadable.bytes(Double(completed))
        return total.map { "\(done) of \(HumanReadable.bytes(Double($0)))" } ?? done
    }

    private var time: String { left.map { "\(HumanReadable.clock($0)) left" } ?? "" }
}

extension String {
    /// How many columns of a terminal the text takes.
    package var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text in at most so many columns, with dots in the middle where something is missing: the end of a name says
    /// what it is.
    package func fitted(to width: Int) -> String {
        guard columns > width else { return self }
        guard width > 3 else { return String(repeating: ".", count: Swift.max(0, width)) }
        var head = "", tail = ""
        var used = 2
        var (front, back) = (self[...], self[...])
        while true {
            let takesHead = head.columns <= tail.columns
            guard let next = takesHead ? front.popFirst() : back.popLast(), used + next.columns <= width
            else {
                return "\(head)..\(tail)"
            }
            used += next.columns
            if takesHead { head.append(next) } else { tail.insert(next, at: tail.startIndex) }
        }
    }
}

extension Character {
    /// Two for the wide characters of East Asia and for pictures, none for what only marks another.
    fileprivate var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        switch first.value {
        case 0x0...0x2FF: return 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x1F000...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default:
            let category = first.properties.generalCategory
            return [.nonspacingMark, .enclosingMark].contains(category) ? 0 : 1
        }
    }
}
