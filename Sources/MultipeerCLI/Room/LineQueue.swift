/// Lines on their way to one peer that have not been handed to its link yet. One that is slow holds up nobody: when too
/// many wait, the newest are dropped for it.
package struct LineQueue: Sendable {
    package enum PostResult: Equatable, Sendable {
        /// Somebody has to take them out, which nobody does yet.
        case begins
        case waits
        /// The first that is dropped since the peer fell behind, and any further.
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

    /// How many wait.
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

    /// The next line; nil ends the taking until `post` says that it begins again.
    package mutating func next() -> [UInt8]? {
        guard !lines.isEmpty else {
            isTaken = false
            return nil
        }
        let line = lines.removeFirst()
        bytes -= line.count
        return line
    }

    /// How many lines were dropped, once the peer has taken half of what waited; then it is told again from one on.
    package mutating func recovery() -> Int? {
        guard dropped > 0, lines.count <= mostLines / 2, bytes <= mostBytes / 2 else { return nil }
        defer { dropped = 0 }
        return dropped
    }
}
