/// The lines that were entered, the newest last, and which of them is shown. It ends with the process, and is never written to
/// disk: what people say to each other is private.
package struct LineHistory: Equatable, Sendable {
    private var lines: [String] = []
    private var bytes = 0
    /// The index of the line that is shown; nil for the new one.
    private var position: Int?
    /// The new line, while an older one is shown.
    private var draft = ""
    private let mostLines: Int
    private let mostBytes: Int

    package init(mostLines: Int = 500, mostBytes: Int = 262_144) {
        self.mostLines = mostLines
        self.mostBytes = mostBytes
    }

    package var count: Int { lines.count }

    /// Adds a line that was entered; the oldest ones make room for it. The next step back leads to it.
    package mutating func add(_ line: String) {
        position = nil
        draft = ""
        guard !line.allSatisfy(\.isWhitespace), line != lines.last, line.utf8.count <= mostBytes else {
            return
        }
        lines.append(line)
        bytes += line.utf8.count
        while lines.count > mostLines || bytes > mostBytes { bytes -= lines.removeFirst().utf8.count }
    }

    /// Returns the line before the one that is shown, which is `current`; nil at the first.
    package mutating func older(than current: String) -> String? {
        let next = (position ?? lines.count) - 1
        guard lines.indices.contains(next) else { return nil }
        if position == nil { draft = current }
        position = next
        return lines[next]
    }

    /// Returns the line after the one that is shown, at last the new one; nil when that is shown.
    package mutating func newer() -> String? {
        guard let position else { return nil }
        guard lines.indices.contains(position + 1) else {
            self.position = nil
            return draft
        }
        self.position = position + 1
        return lines[position + 1]
    }
}
