import Foundation
import MultipeerActors

/// Shows how it goes: on a terminal a line for each observatory, which is rewritten; in a pipe, and on a terminal that
/// knows no escape sequences, a line for each thing that happens.
struct View {
    let isLive = Terminal.isCapable
    private var shown: [String] = []

    /// What happens.
    mutating func say(_ text: String) {
        let text = text.printable
        rewrite(isLive ? [String(text.prefix(Terminal.width - 1))] : [text], above: shown)
    }

    /// What happens so often that the lines of the observatories say it better.
    mutating func detail(_ text: String) { if !isLive { say(text) } }

    mutating func show(_ survey: Survey<ActorID>) {
        guard isLive else { return }
        let lines = Board(survey, width: Terminal.width - 1).lines
        if lines != shown { rewrite([], above: lines) }
    }

    mutating func end(_ survey: Survey<ActorID>) {
        show(survey)
        shown = []
    }

    private mutating func rewrite(_ news: [String], above lines: [String]) {
        let up = shown.isEmpty ? "" : "\u{1b}[\(shown.count)A\r"
        Terminal.write(up + (news + lines).map { isLive ? "\($0)\u{1b}[K\n" : "\($0)\n" }.joined())
        shown = lines
    }
}

/// A survey as lines: a bar for each observatory, and one for all of them.
struct Board {
    private static let bar = 24

    let lines: [String]

    init(_ survey: Survey<ActorID>, width: Int) {
        let names = survey.tallies.map(\.site.peer.name)
        let column = min(20, max(3, names.map(\.count).max() ?? 0))
        var lines = zip(names, survey.tallies).map { name, tally in
            Board.line(name, column, tally.counted, of: survey.tiles, Board.state(of: tally))
        }
        let counted = survey.findings.count
        lines.append(Board.line("all", column, counted, of: survey.tiles, "\(counted) of \(survey.tiles)"))
        self.lines = lines.map { String($0.prefix(width)) }
    }

    private static func state(of tally: Survey<ActorID>.Tally) -> String {
        var words = ["\(tally.counted) scanned"]
        if tally.failed > 0 { words.append("\(tally.failed) failed") }
        words.append(tally.isLost ? "lost with \(tally.returned)" : "\(tally.inFlight.count) in hand")
        return words.joined(separator: ", ")
    }

    private static func line(_ name: String, _ column: Int, _ part: Int, of whole: Int, _ state: String)
        -> String
    {
        let full = whole == 0 ? bar : part * bar / whole
        return String(name.prefix(column)).padded(to: column) + "  " + String(repeating: "#", count: full)
            + String(repeating: ".", count: bar - full) + "  " + state
    }
}

extension Survey<ActorID> {
    /// Who did what, and how long it took.
    func summary(after time: Duration) -> [String] {
        let column = min(20, tallies.map(\.site.peer.name.count).max() ?? 0)
        var lines = [
            "\(stars) stars on \(findings.count) of \(tiles) tiles, fingerprint \(fingerprint.hexadecimal)"
        ]
        for tally in tallies {
            let name = String(tally.site.peer.name.prefix(column)).padded(to: column)
            let mean = tally.spent / max(1, tally.counted + tally.failed)
            var line = "\(name)  \(tally.counted) tiles, \(mean.milliseconds) ms each"
            if tally.failed > 0 { line += ", \(tally.failed) failed" }
            if tally.isLost { line += ", lost with \(tally.returned)" }
            lines.append(line)
        }
        for (tile, why) in givenUp.sorted(by: { $0.key < $1.key }) {
            lines.append("tile \(tile) was given up: \(why)".printable)
        }
        return lines + ["\(time.milliseconds) ms in all"]
    }
}

extension String {
    /// Without what would move the cursor: others have a say in it.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }))
    }

    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension UInt64 {
    fileprivate var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
