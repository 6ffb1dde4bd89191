import Foundation
import MultipeerActors

/// Shows the progress: on a terminal a line for each observatory, which is rewritten; in a pipe, and on a terminal
/// without escape sequences, a line for each event.
struct View {
    let isLive: Bool
    /// The lines that are rewritten.
    private var shown: [String] = []

    init(isLive: Bool = Terminal.isCapable) { self.isLive = isLive }

    /// Shows an event.
    mutating func say(_ text: String) {
        Terminal.write(rewriting([text.printable], above: shown, in: Terminal.size))
    }

    /// Shows an event that is so frequent that the lines of the observatories show it better.
    mutating func detail(_ text: String) { if !isLive { say(text) } }

    /// Writes to standard error, which may be the same terminal.
    mutating func complain(_ text: String) {
        let lines = shown
        if isLive { Terminal.write(rewriting([], above: [], in: Terminal.size)) }
        Terminal.complain(text)
        if isLive { Terminal.write(rewriting([], above: lines, in: Terminal.size)) }
    }

    mutating func show(_ survey: Survey<ActorID>) {
        guard isLive else { return }
        let size = Terminal.size
        let lines = Board(survey, in: size).lines
        if lines != shown { Terminal.write(rewriting([], above: lines, in: size)) }
    }

    mutating func end(_ survey: Survey<ActorID>) {
        show(survey)
        shown = []
    }

    /// Returns the output that puts `news` in the place of the lines that are shown, and `lines` below them.
    mutating func rewriting(_ news: [String], above lines: [String], in size: Terminal.Size) -> String {
        defer { shown = lines }
        guard isLive else { return (news + lines).map { "\($0)\n" }.joined() }
        // A terminal that has become smaller may show a line as two, and may have scrolled some out of reach: these stay.
        let isWhole = shown.count < size.rows && shown.allSatisfy { $0.columns < size.columns }
        let up = shown.isEmpty || !isWhole ? "" : "\u{1b}[\(shown.count)A\r"
        let text = (news.map { $0.head(size.columns - 1) } + lines).map { "\($0)\u{1b}[K\n" }.joined()
        return up + text + "\u{1b}[J"
    }
}

/// A survey as lines: a bar for each observatory, and one for all of them.
struct Board {
    private static let bar = 24

    /// The lines: all narrower than the terminal, and fewer than its height.
    let lines: [String]

    init(_ survey: Survey<ActorID>, in size: Terminal.Size) {
        let names = survey.tallies.map(\.site.peer.name)
        let column = min(20, max(3, names.map(\.columns).max() ?? 0))
        var lines = zip(names, survey.tallies).map { name, tally in
            Board.line(name, column, tally.counted, of: survey.tiles, Board.state(of: tally))
        }
        let counted = survey.findings.count
        lines.append(Board.line("all", column, counted, of: survey.tiles, "\(counted) of \(survey.tiles)"))
        self.lines = lines.suffix(size.rows - 1).map { $0.head(size.columns - 1) }
    }

    private static func state(of tally: Survey<ActorID>.Tally) -> String {
        var words = ["\(tally.counted) scanned"]
        if tally.failed > 0 { words.append("\(tally.failed) failed") }
        words.append(
            tally.isLost ? "lost with \(tally.returned) tiles" : "\(tally.inFlight.count) in progress")
        return words.joined(separator: ", ")
    }

    private static func line(_ name: String, _ column: Int, _ part: Int, of whole: Int, _ state: String)
        -> String
    {
        let full = whole == 0 ? bar : part * bar / whole
        return name.head(column).padded(to: column) + "  " + String(repeating: "#", count: full)
            + String(repeating: ".", count: bar - full) + "  " + state
    }
}

extension Survey<ActorID> {
    /// Returns what each observatory did, and how long it took.
    func summary(after time: Duration) -> [String] {
        let column = min(20, tallies.map(\.site.peer.name.columns).max() ?? 0)
        var lines = [
            "\(stars) stars on \(findings.count) of \(tiles) tiles, fingerprint \(fingerprint.hexadecimal)"
        ]
        for tally in tallies {
            let name = tally.site.peer.name.head(column).padded(to: column)
            let mean = tally.spent / max(1, tally.counted + tally.failed)
            var line = "\(name)  \(tally.counted) tiles, \(mean.milliseconds) ms each"
            if tally.failed > 0 { line += ", \(tally.failed) failed" }
            if tally.isLost { line += ", lost with \(tally.returned) tiles" }
            lines.append(line)
        }
        for (tile, why) in givenUp.sorted(by: { $0.key < $1.key }) {
            lines.append("tile \(tile) was given up: \(why)".printable)
        }
        return lines + ["\(time.milliseconds) ms in total"]
    }
}

extension UInt64 {
    fileprivate var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
