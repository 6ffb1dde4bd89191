/// One member from a start to its end: one process, or one session of a process.
package struct Run: Sendable {
    /// How it ended.
    package enum End: Equatable, Sendable {
        case quit
        case killed
        /// Unknown: it crashed, or it is still running.
        case unknown
    }

    /// From one `connected` to the `notConnected` after it.
    package struct Link: Sendable {
        package let peer: String
        package let span: Span
        package let start: Place
        /// Whether its end was written; otherwise it lasted as long as the run.
        package let hasEnded: Bool
    }

    package let me: String
    package let lines: [Line]
    package let span: Span
    package let end: End
    /// In order of their beginning.
    package let links: [Link]

    package var start: Entry { lines[0].entry }

    /// Creates a run from the lines of one member, in order, at least one.
    init(_ lines: [Line], killed: UInt64?) {
        self.lines = lines
        let (first, last) = (lines[0].entry, lines[lines.count - 1].entry)
        me = first.me
        if last.event == .quit {
            (end, span) = (.quit, Span(first.t, last.t))
        } else if let moment = killed {
            (end, span) = (.killed, Span(first.t, moment))
        } else {
            (end, span) = (.unknown, Span(first.t, last.t))
        }
        links = Self.links(lines, until: span.end)
    }

    private static func links(_ lines: [Line], until end: UInt64) -> [Link] {
        var open: [String: Line] = [:]
        var links: [Link] = []
        func close(_ peer: String, at moment: UInt64, hasEnded: Bool) {
            guard let line = open.removeValue(forKey: peer) else { return }
            links.append(
                Link(
                    peer: peer, span: Span(line.entry.t, max(moment, line.entry.t)), start: line.place,
                    hasEnded: hasEnded))
        }
        for line in lines where line.entry.event == .state {
            guard let peer = line.entry.peer else { continue }
            close(peer, at: line.entry.t, hasEnded: true)
            if line.entry.state == .connected { open[peer] = line }
        }
        for peer in open.keys.sorted() { close(peer, at: end, hasEnded: false) }
        return links.sorted { $0.span.start < $1.span.start }
    }
}

/// A half-open span of time, in nanoseconds.
package struct Span: Equatable, Sendable {
    package let start: UInt64
    package let end: UInt64

    package init(_ start: UInt64, _ end: UInt64) {
        self.start = start
        self.end = end
    }

    package var length: UInt64 { end > start ? end - start : 0 }

    package func meets(_ other: Span) -> Bool { start <= other.end && other.start <= end }

    /// Returns what is left of it without the others.
    package func without(_ others: [Span]) -> [Span] {
        others.reduce([self]) { left, other in
            left.flatMap { piece -> [Span] in
                guard other.start < piece.end, piece.start < other.end else { return [piece] }
                return [Span(piece.start, other.start), Span(other.end, piece.end)].filter {
                    $0.start < $0.end
                }
            }
        }
    }
}
