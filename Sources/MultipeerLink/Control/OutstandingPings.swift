import MultipeerCore

/// The PINGs of this side: to check whether the peer is alive, and whether it has read everything up to a mark.
/// Spec 14.2.
///
/// One PING serves every reason due at that time. The peer answers in order, so a PONG also settles all earlier
/// PINGs.
struct OutstandingPings: Sendable {
    private struct Question: Sendable {
        let token: UInt64
        let asked: Moment
        let isProbe: Bool
        let marks: [UInt64]
    }

    private struct Mark: Sendable {
        let id: UInt64
        /// The number of messages after which the mark is set.
        let position: Int
    }

    private var open: [Question] = []
    private var lastToken: UInt64 = 0
    private var marks: [Mark] = []
    private var wantsAny = false
    private var wantsProbe = false

    /// Whether one was sent that has no answer yet.
    var hasOpen: Bool { !open.isEmpty }

    mutating func ask() { wantsAny = true }
    mutating func probe() { wantsProbe = true }
    mutating func mark(_ id: UInt64, after position: Int) { marks.append(Mark(id: id, position: position)) }

    /// Whether a PING is due that may not wait.
    var isUrgent: Bool { wantsAny || wantsProbe }

    /// Returns whether a PING for marks is due; one at a time, so that an application that marks often does not
    /// flood the peer.
    func isMarkDue(written: Int) -> Bool {
        guard let first = marks.first, first.position <= written else { return false }
        return !open.contains { !$0.marks.isEmpty }
    }

    /// Returns the payload of the PING to be sent now.
    mutating func next(written: Int, at now: Moment) -> UInt64 {
        let covered = marks.prefix { $0.position <= written }
        lastToken += 1
        if open.count >= Self.openLimit, let oldest = open.firstIndex(where: { $0.marks.isEmpty }) {
            open.remove(at: oldest)
        }
        open.append(Question(token: lastToken, asked: now, isProbe: wantsProbe, marks: covered.map(\.id)))
        marks.removeFirst(covered.count)
        (wantsAny, wantsProbe) = (false, false)
        return lastToken
    }

    /// Returns what a PONG settles; nil when it answers no PING.
    mutating func answered(_ token: UInt64, at now: Moment) -> (roundTrip: Duration, events: [Link.Event])? {
        guard let place = open.firstIndex(where: { $0.token == token }) else { return nil }
        let settled = open[...place]
        let roundTrip = now - open[place].asked
        var events = settled.flatMap { $0.marks.map(Link.Event.markReached) }
        if settled.contains(where: \.isProbe) { events.append(.probeAnswered) }
        open.removeFirst(settled.count)
        return (roundTrip, events)
    }

    /// The maximum number of outstanding PINGs, so that a peer that never answers does not make the list grow.
    private static let openLimit = 16
}
