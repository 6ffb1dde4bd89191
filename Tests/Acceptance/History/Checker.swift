/// Checks a history for all properties.
package struct Checker: Sendable {
    /// How long things may take, in nanoseconds.
    package struct Limits: Sendable {
        /// From a death without notification until the others know, beyond their idle timeout.
        package var lateness: UInt64 = .second
        /// From any notification until the other side knows.
        package var told: UInt64 = .second
        /// The time after its timeout at which an attempt counts as stuck.
        package var tardiness: UInt64 = 5 * .second
        /// An allowance for a busy machine, added to each of them.
        package var slack: UInt64 = 0

        package init(slack: Double = 0) { self.slack = UInt64(slack * 1e9) }
    }

    let history: History
    let limits: Limits
    /// When each instance of each member ended.
    let instanceEnds: [String: [String: UInt64]]

    package init(_ history: History, _ limits: Limits = Limits()) {
        self.history = history
        self.limits = limits
        instanceEnds = history.runsByMember.mapValues(Self.instanceEnds)
    }

    /// Returns how long a run may keep a silent peer: default 11 s, unless its idle timeout was set.
    func silentDeath(_ run: Run) -> UInt64 {
        UInt64((run.start.death ?? 10) * 1e9) + limits.lateness + limits.slack
    }

    private static func instanceEnds(_ runs: [Run]) -> [String: UInt64] {
        var ends: [String: UInt64] = [:]
        for run in runs {
            var now: String?
            for line in run.lines {
                guard line.entry.event == .start || line.entry.event == .instance,
                    let next = line.entry.instance, next != now
                else { continue }
                if let now { ends[now] = line.entry.t }
                now = next
            }
            if let now, run.end != .unknown { ends[now] = run.span.end }
        }
        return ends
    }

    /// Returns all violations, in the order of the properties.
    package func violations() -> [Violation] {
        whole() + states() + symmetry() + cap() + delivery() + presence() + rest() + transfers() + attempts()
    }

    private func whole() -> [Violation] {
        history.unreadable.map { Violation(.whole, $0, "not an entry") }
            + history.runs.flatMap { run -> [Violation] in
                var found: [Violation] = []
                if run.start.event != .start {
                    found.append(Violation(.whole, run.lines[0].place, "no start before this entry"))
                }
                if run.end == .unknown, let last = run.lines.last {
                    found.append(
                        Violation(
                            .whole, last.place, "the run has no entries after this one, and was not killed"))
                }
                return found
            }
    }
}

extension UInt64 {
    /// In nanoseconds.
    package static var second: UInt64 { 1_000_000_000 }

    /// A text in seconds.
    var inSeconds: String { "\(Double(self / 1_000_000) / 1_000) s" }
}
