import MultipeerCommandLine
import MultipeerEssentials

/// The lines that one link has accepted and its peer has not confirmed, in their order.
///
/// One confirmation is asked for at a time, for all lines up to then: a user has each line confirmed at once, and a pipe as often as
/// a packet takes to the peer and back.
package struct UnconfirmedLines: Sendable {
    private struct Line: Sendable {
        let number: Int
        let start: ArraySlice<UInt8>
    }

    /// Of more lines the number is known, and not the text.
    private static let mostKept = 512
    /// What is kept of a line, in bytes.
    private static let longestStart = 200
    private static let mostShown = 10

    private var lines: [Line] = []
    private var accepted = 0
    private var confirmed = 0
    private var isAsking = false

    package init() {}

    package var count: Int { accepted - confirmed }

    package mutating func add(_ line: [UInt8]) {
        accepted += 1
        guard lines.count < UnconfirmedLines.mostKept else { return }
        // A copy, so that the rest of a long line is not kept.
        let start = Array(line.prefix(UnconfirmedLines.longestStart))
        lines.append(Line(number: accepted, start: start[...]))
    }

    /// Returns the number of the last line if a confirmation of all up to it has to be asked for now.
    package mutating func ask() -> Int? {
        guard !isAsking, count > 0 else { return nil }
        isAsking = true
        return accepted
    }

    /// The peer has received all lines up to this one.
    package mutating func confirm(upTo number: Int) {
        isAsking = false
        confirmed = min(max(confirmed, number), accepted)
        lines.removeAll { $0.number <= confirmed }
    }

    /// Returns what the user reads about the lines when their link ends, and forgets them. `unsent`: how many of them, the last ones,
    /// were certainly not sent.
    package mutating func end(unsent: Int, to name: String) -> [String] {
        let firstUnsent = accepted - max(0, unsent) + 1
        var notes = lines.prefix(UnconfirmedLines.mostShown).map { line in
            UnconfirmedLines.note(line.start, isSent: line.number < firstUnsent, to: name)
        }
        let rest = count - notes.count
        if rest > 0 {
            notes.append(
                "may not have arrived at \(name): \(notes.isEmpty ? "" : "and ")\(rest) more \(rest == 1 ? "line" : "lines")"
            )
        }
        self = UnconfirmedLines()
        return notes
    }

    /// What the user reads about one line.
    static func note(_ line: some Collection<UInt8>, isSent: Bool, to name: String) -> String {
        let start = line.prefix(longestStart)
        let text = RoomMessage.excerpt(of: start, isWhole: start.count < longestStart)
        return (isSent ? "may not have arrived at \(name): " : "not sent to \(name): ") + text
    }
}

extension RoomMessage {
    /// Returns the beginning of a line, for a notice about it.
    fileprivate static func excerpt(of bytes: some Collection<UInt8>, isWhole: Bool) -> String {
        let text = String(decoding: bytes.drop { $0 == RoomMessage.mark }, as: UTF8.self)
        return String(text.prefix { $0 != "\n" }).printableText + (isWhole ? "" : "...")
    }
}
