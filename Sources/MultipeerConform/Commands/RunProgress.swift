import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// Shows on standard error how far a run of the suite is.
///
/// On a terminal, one line is rewritten; elsewhere lines come only on request. What does not pass is shown in any case.
final class RunProgress: Sendable {
    private let total: Int
    private let isTold: Bool
    private let isRewritten = Terminal.hasScreen(DescriptorStream.error)
    private let counts = Locked<[CaseVerdict: Int]>([:])

    init(of total: Int, isTold: Bool) {
        self.total = total
        self.isTold = isTold
    }

    func add(_ outcome: CaseOutcome) {
        let counts = counts.withLock { counts in
            counts[outcome.verdict, default: 0] += 1
            return counts
        }
        let done = counts.values.reduce(0, +)
        let verdict = outcome.verdict.rawValue
        if isTold, !outcome.isUnjudged {
            let reason = outcome.reason.isEmpty ? "" : "  \(outcome.reason.printable)"
            Terminal.say(
                "\(done)/\(total)  \(verdict)  \(outcome.name)  \(outcome.milliseconds) ms\(reason)")
        } else if outcome.verdict != .pass, !outcome.isUnjudged {
            Terminal.say("\(verdict)  \(outcome.name)  \(outcome.reason.printable)")
        }
        guard isRewritten else { return }
        let shown = CaseVerdict.allCases.compactMap { one in counts[one].map { "\($0) \(one.rawValue)" } }
        let line = "\(done)/\(total)  \(shown.joined(separator: ", "))  \(outcome.name)"
        Terminal.rewriteLine(String(line.prefix(max(20, Terminal.width - 1))))
    }

    /// Removes the line that is rewritten.
    func end() { Terminal.eraseLine() }
}
