/// Lines for one peer that have not been handed to its link yet. A slow peer does not block the others: when too many lines
/// wait, the newest are dropped.
package struct LineQueue: Sendable {
    package enum PostResult: Equatable, Sendable {
        /// The caller has to start taking lines out.
        case begins
        case waits
        /// The line was dropped: the first since the queue filled up, or a later one.
        case dropped(isFirst: Bool)
    }

    private var lines: [[UInt8]] = []
    private var bytes = 0
    private var isTaken = false
    private var dropped = 0
    private let mostLines: Int
    private let mostBytes: Int

    package init(mostLines: Int = 512, mostBytes: Int = 1 << 20) {
        self.mostLines = mostLines
        self.mostBytes = mostBytes
    }

    /// The number of waiting lines.
    package var count: Int { lines.count }
    /// Whether nothing waits and nothing is being handed over.
    package var isIdle: Bool { !isTaken }

    package mutating func post(_ line: [UInt8]) -> PostResult {
        guard lines.count < mostLines, bytes + line.count <= mostBytes else {
            dropped += 1
            return .dropped(isFirst: dropped == 1)
        }
        lines.append(line)
        bytes += line.count
        guard !isTaken else { return .waits }
        isTaken = true
        return .begins
    }

    /// Returns the next line; nil ends the taking until `post` returns `begins` again.
    package mutating func next() -> [UInt8]? {
        guard !lines.isEmpty else {
            isTaken = false
            return nil
        }
        let line = lines.removeFirst()
        bytes -= line.count
        return line
    }

    /// Takes all waiting lines out; the one that is being handed over is not among them.
    package mutating func removeAll() -> [[UInt8]] {
        defer { (lines, bytes) = ([], 0) }
        return lines
    }

    /// Returns how many lines were dropped, once half of the queue is free; then the count starts again at zero.
    package mutating func recovery() -> Int? {
        guard dropped > 0, lines.count <= mostLines / 2, bytes <= mostBytes / 2 else { return nil }
        defer { dropped = 0 }
        return dropped
    }
}
