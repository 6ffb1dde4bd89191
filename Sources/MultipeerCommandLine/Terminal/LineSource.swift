import MultipeerEssentials

/// Standard input, line by line, for a command that reads it in no other way.
package final class LineSource: Sendable {
    private static let piece = 65_536

    fileprivate struct State: Sendable {
        var bytes: [UInt8] = []
        var isOver = false
    }

    package enum Line: Sendable {
        case text(String)
        case tooLong
    }

    private let longest: Int
    private let worker = Worker("input")
    private let state = Locked(State())

    /// Creates a source of lines of at most `longest` bytes.
    package init(longest: Int = 16_384) { self.longest = longest }

    /// Returns the next line without its line end; nil after the last.
    package func next() async throws(CommandError) -> Line? {
        try await worker.run { [self] () throws(CommandError) in try read() }
    }

    private func read() throws(CommandError) -> Line? {
        var isTooLong = false
        while true {
            let (line, isOver) = state.withLock { ($0.take(), $0.isOver) }
            if let line {
                return isTooLong || line.count > longest ? .tooLong : LineSource.text(line)
            }
            if isOver { return nil }
            let more = try DescriptorStream.input.readInForeground(LineSource.piece)
            isTooLong = state.withLock { state in
                // A line that is too long is discarded up to its end.
                let wasLong = isTooLong || state.bytes.count > longest
                if wasLong { state.bytes = [] }
                if let more { state.bytes += more } else { state.isOver = true }
                return wasLong
            }
        }
    }

    private static func text(_ bytes: [UInt8]) -> Line { .text(String(decoding: bytes, as: UTF8.self)) }
}

extension LineSource.State {
    /// Returns the first whole line, or the rest at end of input.
    fileprivate mutating func take() -> [UInt8]? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            guard isOver, !bytes.isEmpty else { return nil }
            defer { bytes = [] }
            return bytes
        }
        defer { bytes.removeFirst(end + 1) }
        return Array(bytes[..<end])
    }
}
