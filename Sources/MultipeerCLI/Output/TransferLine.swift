import MultipeerCommandLine

/// The progress line of a transfer: name, percentage, bytes, rate and remaining time.
package struct TransferLine: Equatable, Sendable {
    package var name: String
    /// The number of the file and the total; nil for a single file, or when unknown.
    package var place: FilePosition?
    package var completed: UInt64
    /// Nil while unknown, as for some sources on the web.
    package var total: UInt64?
    /// In bytes per second.
    package var rate: Double
    package var left: Duration?
    /// Whether the receiver has everything: only then the line shows 100 %.
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

    /// Returns the line in at most `width` columns. When it is narrow, the least important parts are left out first: the bar,
    /// the number of the file, the time, the rate, the bytes; then the name is shortened.
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
    /// Returns the text in at most `width` columns, with two dots for a part left out in the middle: the end of a file name
    /// shows its type.
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
