package import MultipeerCore

/// Which of a session's peers may have a message beyond its window reassembled: one at a time. Spec 15.
/// [limit.reassembly]
package struct ReassemblyTurns: Sendable {
    /// The state of a link.
    package struct Report: Equatable, Sendable {
        package var wants: Bool
        /// The number of message bytes received since the link began.
        package var brought: Int
        /// Whether nothing can be received, because this side takes nothing.
        package var isHeldUp: Bool

        package init(wants: Bool, brought: Int, isHeldUp: Bool = false) {
            self.wants = wants
            self.brought = brought
            self.isHeldUp = isHeldUp
        }
    }

    package static let timeout = Duration.seconds(5)
    package static let leastBrought = 65_536
    /// The bytes that the holder has to bring within the timeout: no more than what its credit allows in one round trip.
    private let leastBrought: Int

    private struct Place: Sendable {
        let id: ConnectionID
        var report: Report
        /// The start of the timeout; the bytes received are counted from `base`.
        var since: Moment
        var base: Int

        mutating func restart(at now: Moment) {
            since = now
            base = report.brought
        }
    }

    private var turn: Place?
    private var waiting: [Place] = []

    /// Creates turns without a holder. `messageCredit`: what this side grants to each link.
    package init(messageCredit: UInt32) {
        leastBrought = min(Self.leastBrought, Int(messageCredit))
    }

    /// The link whose turn it is: only that link has `hasTurn`.
    package var holder: ConnectionID? { turn?.id }

    /// Updates the state of a link, which may change the holder.
    package mutating func report(_ id: ConnectionID, _ report: Report, at now: Moment) {
        guard report.wants else { return remove(id, at: now) }
        if turn?.id == id {
            turn?.report = report
            if report.isHeldUp { turn?.restart(at: now) }
        } else if let place = waiting.firstIndex(where: { $0.id == id }) {
            waiting[place].report = report
        } else {
            let place = Place(id: id, report: report, since: now, base: report.brought)
            if turn == nil { return turn = place }
            if waiting.isEmpty { turn?.restart(at: now) }
            waiting.append(place)
        }
    }

    /// Removes a link that has ended, or no longer needs a turn.
    package mutating func remove(_ id: ConnectionID, at now: Moment) {
        waiting.removeAll { $0.id == id }
        guard turn?.id == id else { return }
        turn = waiting.isEmpty ? nil : waiting.removeFirst()
        turn?.restart(at: now)
    }

    /// The time at which `advance` has an effect.
    package var deadline: Moment? { waiting.isEmpty ? nil : turn.map { $0.since + Self.timeout } }

    /// Returns the holder that must be ended with FLOW, because it makes others wait and sends almost nothing.
    package mutating func advance(to now: Moment) -> ConnectionID? {
        guard let turn, let deadline, now >= deadline else { return nil }
        let isSlow = turn.report.brought - turn.base < leastBrought && !turn.report.isHeldUp
        self.turn?.restart(at: now)
        return isSlow ? turn.id : nil  // [limit.reassembly]
    }
}
