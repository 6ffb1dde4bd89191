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

    package enum Verdict: Equatable, Sendable { case well, ask, dead }

    enum Phase: Equatable, Sendable {
        case heard
        /// A PING was sent; the peer has until then to respond.
        case asked(until: Moment)
    }

    private let timing: Timing
    private var lastHeard: Moment
    private var phase = Phase.heard
    private var hasTurn: Bool

    package init(_ timing: Timing, now: Moment) {
        self.timing = timing
        lastHeard = now
        hasTurn = timing.isFirst
    }

    package mutating func heard(at now: Moment) {
        lastHeard = now
        phase = .heard
    }

    /// The next time at which `advance` has an effect.
    package var deadline: Moment {
        switch phase {
        case .heard: lastHeard + (timing.keepAliveInterval - (hasTurn ? timing.lead : .zero))  // [live.ping]
        case .asked(let until): until
        }
    }

    /// Notes a PING of the peer; `isCrossing`: one of this end has no answer yet.
    package mutating func pinged(isCrossing: Bool) { hasTurn = !isCrossing || timing.isFirst }

    /// Returns whether a PING is to be sent now, because one on another link of the session is: this link's would be due within
    /// a third of the interval. So the links of a session wake its thread together, and not one after the other.
    package mutating func join(at now: Moment) -> Bool {
        guard phase == .heard, hasTurn, now + timing.keepAliveInterval / 3 >= deadline else { return false }
        ask(at: now)
        return true
    }

    private mutating func ask(at now: Moment) {
        phase = .asked(until: idleDeadline(asking: now))
        hasTurn = false
    }

    /// Returns when the peer that is sent a PING now is given up. After a late PING it still gets some time to respond.
    private func idleDeadline(asking now: Moment) -> Moment {
        let answer = min(.seconds(1), timing.idleTimeout - timing.keepAliveInterval)
        return max(lastHeard + timing.idleTimeout, now + answer)
    }

    package mutating func advance(to now: Moment) -> Verdict {
        let due = deadline
        guard now >= due else { return .well }
        if now > due + timing.sleep {  // [live.resume]
            phase = .asked(until: now + timing.grace)
            return .ask
        }
        switch phase {
        case .heard:
            ask(at: now)
            return .ask
        case .asked:
            return .dead  // [live.idle-timeout]
        }
    }
}
