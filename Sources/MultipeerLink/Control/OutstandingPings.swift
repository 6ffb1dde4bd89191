import MultipeerCore

/// The questions this side asks: is the peer there, and has it read everything up to a mark? Spec 14.2.
///
/// One PING serves every reason there is at that moment. The peer answers in order, so an answer settles all the
/// questions before it too.
struct OutstandingPings: Sendable {
    private struct Question: Sendable {
        let token: UInt64
        let asked: Moment
        let isProbe: Bool
        let marks: [UInt64]
    }

    private struct Mark: Sendable {
        let id: UInt64
        /// Set after so many messages.
        let position: Int
    }

    private var open: [Question] = []
    private var lastToken: UInt64 = 0
    private var marks: [Mark] = []
    private var wantsAny = false
    private var wantsProbe = false

    mutating func ask() { wantsAny = true }
    mutating func probe() { wantsProbe = true }
    mutating func mark(_ id: UInt64, after position: Int) { marks.append(Mark(id: id, position: position)) }

    /// A PING that may not wait.
    var isUrgent: Bool { wantsAny || wantsProbe }

    /// A PING for marks; one at a time, so that an application that marks often does not flood the peer.
    func isMarkDue(written: Int) -> Bool {
        guard let first = marks.first, first.position <= written else { return false }
        return !open.contains { !$0.marks.isEmpty }
    }

    /// The payload of the PING that goes out now.
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

    /// What a PONG settles; nil when it answers nothing.
    mutating func answered(_ token: UInt64, at now: Moment) -> (roundTrip: Duration, events: [Link.Event])? {
        guard let place = open.firstIndex(where: { $0.token == token }) else { return nil }
        let settled = open[...place]
        let roundTrip = now - open[place].asked
        var events = settled.flatMap { $0.marks.map(Link.Event.markReached) }
        if settled.contains(where: \.isProbe) { events.append(.probeAnswered) }
        open.removeFirst(settled.count)
        return (roundTrip, events)
    }

    /// A peer that never answers makes no list grow.
    private static let openLimit = 16
}
