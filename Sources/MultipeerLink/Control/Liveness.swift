package import MultipeerCore

/// Keep-alive and idle timeout: an idle peer is sent a PING, and when nothing is received after it the link ends.
/// Spec 14.2.
///
/// ```
///   heard ──keep-alive interval──▶ asked ──idle timeout──▶ (the link ends)
///     ▲  └──process was suspended──▶ asked, with grace ──grace over──▶ (the link ends)
///     └───────anything received───────┘
/// ```
///
/// The ends take turns: a PING restarts the timer of its receiver, which sends the next one, a little earlier than the other end
/// would. So both do not ping at the same time, and both learn the round-trip time.
///
/// An end that only receives sends PING, too, so that the other end receives something. And while a PING has no answer, its owner
/// reports every half second or oftener what TCP knows: as long as the PING waits in a slow network, each acknowledged byte counts as
/// received.
package struct Liveness: Equatable, Sendable {
    /// The four durations of chapter 14.
    package struct Timing: Equatable, Sendable {
        /// The time without received data after which a PING is sent.
        package var keepAliveInterval: Duration
        /// The time without received data after which the peer is dead.
        package var idleTimeout: Duration
        /// A deadline noticed this late means that the process was suspended.
        package var sleep: Duration
        /// How long the peer has to respond after a suspension.
        package var grace: Duration
        /// How much earlier than after the interval an end pings whose turn it is.
        package var lead = Duration.zero
        /// Whether the first turn is this end's, and the next one after PINGs that crossed each other.
        package var isFirst = true

        package init(
            keepAliveInterval: Duration = .seconds(3), idleTimeout: Duration = .seconds(10),
            sleep: Duration = Suspension.clockGap, grace: Duration = Suspension.resumeGrace
        ) {
            self.keepAliveInterval = keepAliveInterval
            self.idleTimeout = idleTimeout
            self.sleep = sleep
            self.grace = grace
        }
    }

    package enum Verdict: Equatable, Sendable {
        case well
        /// Send PING: nothing was received. Then report what TCP knows.
        case ask
        /// Send PING: much was received, and nothing sent.
        case speak
        /// Report what TCP knows.
        case look
        case dead
    }

    /// How long a PING has had no answer.
    package struct Silence: Equatable, Sendable {
        /// When something was received last.
        package let since: Moment
        /// When it is given up.
        package let until: Moment
    }

    enum Phase: Equatable, Sendable {
        case heard
        /// A PING was sent; the peer has until then to respond.
        case asked(until: Moment)
    }

    private let timing: Timing
    private var lastHeard: Moment
    private var lastSent: Moment
    /// When something was received for the first time since then.
    private var firstHeard: Moment
    private var phase = Phase.heard
    private var hasTurn: Bool
    /// The way of the PING that has no answer.
    private var question: Question
    private var doubt: Doubt?

    package init(_ timing: Timing, now: Moment) {
        self.timing = timing
        lastHeard = now
        lastSent = now
        firstHeard = now
        hasTurn = timing.isFirst
        question = Question(deadline: now)
    }

    package mutating func heard(at now: Moment) {
        if lastSent >= firstHeard { firstHeard = now }
        lastHeard = now
        phase = .heard
    }

    /// Notes that something is sent.
    package mutating func sent(at now: Moment) { lastSent = now }

    /// Nil unless a PING has no answer.
    package var silence: Silence? {
        if case .asked(let until) = phase { Silence(since: lastHeard, until: until) } else { nil }
    }

    /// Whether this end receives again and again, and sends nothing.
    private var isOneSided: Bool {
        firstHeard > lastSent && lastHeard >= firstHeard + timing.keepAliveInterval / 3
    }

    /// The next time at which `advance` has an effect.
    package var deadline: Moment {
        switch phase {
        case .heard: doubt.map { min($0.nextLook, nextPing) } ?? nextPing
        case .asked(let until): min(until, question.nextLook)
        }
    }

    /// When PING is due, if nothing is received until then.
    private var nextPing: Moment {
        isOneSided
            ? max(lastSent + timing.keepAliveInterval, lastHeard)  // [live.one-sided]
            : lastHeard + (timing.keepAliveInterval - (hasTurn ? timing.lead : .zero))  // [live.ping]
    }

    /// Notes a PING of the peer; `isCrossing`: one of this end has no answer yet.
    package mutating func pinged(isCrossing: Bool) { hasTurn = !isCrossing || timing.isFirst }

    /// Returns whether a PING is to be sent now, because one on another link of the session is: this link's would be due within
    /// a third of the interval. So the links of a session wake its thread together, and not one after the other.
    package mutating func join(at now: Moment) -> Bool {
        guard phase == .heard, hasTurn, now + timing.keepAliveInterval / 3 >= deadline else { return false }
        ask(until: idleDeadline(asking: now), at: now)
        return true
    }

    private mutating func ask(until deadline: Moment, at now: Moment) {
        phase = .asked(until: deadline)
        question = Question(deadline: deadline)
        lastSent = now
        hasTurn = false
    }

    /// Returns when the peer that is sent a PING now is given up. After a late PING it still gets some time to respond.
    private func idleDeadline(asking now: Moment) -> Moment {
        let answer = min(.seconds(1), timing.idleTimeout - timing.keepAliveInterval)
        return max(lastHeard + timing.idleTimeout, now + answer)
    }

    package mutating func advance(to now: Moment) -> Verdict {
        guard now >= deadline else { return .well }
        switch phase {
        case .heard:
            if let doubt, doubt.nextLook <= now, now < nextPing {
                self.doubt?.nextLook = now + Doubt.interval
                return .look
            }
            if now > nextPing + timing.sleep { return resume(at: now) }
            if isOneSided {
                lastSent = now
                return .speak
            }
            ask(until: idleDeadline(asking: now), at: now)
            return .ask
        case .asked(let until):
            if now > until + timing.sleep { return resume(at: now) }
            if question.isLookDue(at: now, until) {
                question.nextLook = .distantFuture
                return .look
            }
            return .dead  // [live.idle-timeout]
        }
    }

    /// The process was suspended: the peer gets a little time. [live.resume]
    private mutating func resume(at now: Moment) -> Verdict {
        ask(until: now + timing.grace, at: now)
        return .ask
    }
}

// MARK: what TCP knows

extension Liveness {
    /// The way of a PING through TCP.
    private struct Question: Equatable, Sendable {
        /// When the peer is given up if no byte is acknowledged.
        let deadline: Moment
        /// Never before the first report: an owner that has none is not asked for more.
        var nextLook = Moment.distantFuture
        /// Where the PING ends in the bytes that are sent, at the latest; nil until it is written.
        var end: UInt64?
        /// What the last report said, and when.
        var acknowledged: UInt64?
        var lastLook = Moment.distantFuture
        /// The end before which the last report was requested.
        var lastEnd: Moment?

        /// Whether a report is to be requested: in time, and once more before the end, of what was acknowledged since the last.
        mutating func isLookDue(at now: Moment, _ end: Moment) -> Bool {
            guard nextLook <= now || now >= end && acknowledged != nil && lastEnd != end else { return false }
            if now >= end { lastEnd = end }
            return true
        }
    }

    /// Data that is repeated without an answer, although something is received.
    private struct Doubt: Equatable, Sendable {
        let since: Moment
        let acknowledged: UInt64
        var nextLook: Moment

        static let interval = Duration.milliseconds(500)
        /// How long that may be so, at least. By then TCP has repeated it five times.
        static let limit = Duration.seconds(3)
        /// From how many repetitions on there is a doubt.
        static let repetitions = 2
    }

    /// Takes a report of what TCP knows of the connection. `isWritten`: the PING is among what it counts. Returns false when large
    /// packets do not arrive: data is repeated again and again although the peer, which receives nothing, has sent PING.
    package mutating func observed(_ report: DeliveryReport, isWritten: Bool, at now: Moment) -> Bool {
        if case .asked = phase { follow(report, isWritten: isWritten, at: now) }
        guard report.repetitions >= Doubt.repetitions else {
            doubt = nil
            return true
        }
        if let doubt, doubt.acknowledged == report.acknowledged {
            return now < doubt.since + max(Doubt.limit, report.roundTrip * 3)  // [link.narrow]
        }
        let isHeard = phase == .heard && now < lastHeard + Doubt.interval
        doubt =
            isHeard
            ? Doubt(since: now, acknowledged: report.acknowledged, nextLook: now + Doubt.interval) : nil
        return true
    }

    /// As long as the PING is on its way, an acknowledged byte counts as received. [live.acknowledged] Once it has arrived, the peer
    /// has the usual time to answer: the kernel of a process that hangs acknowledges, too.
    private mutating func follow(_ report: DeliveryReport, isWritten: Bool, at now: Moment) {
        let (before, lastLook) = (question.acknowledged ?? report.acknowledged, question.lastLook)
        (question.acknowledged, question.lastLook) = (report.acknowledged, now)
        if isWritten, question.end == nil { question.end = report.written }
        let wasUnderWay = question.end.map { before < $0 } ?? true
        if report.acknowledged > before, wasUnderWay {
            let hasArrived = question.end.map { report.acknowledged >= $0 } ?? false
            let time = max(lastLook, now + (.zero - report.sinceAcknowledgement))
            let rest = hasArrived ? timing.idleTimeout - timing.keepAliveInterval : timing.idleTimeout
            phase = .asked(until: max(question.deadline, time + rest))
        }
        guard case .asked(let until) = phase, now < until else { return }
        // Half a second, and less when there is less left.
        question.nextLook = now + max(.milliseconds(200), min(.milliseconds(500), (until - now) / 9))
    }
}
