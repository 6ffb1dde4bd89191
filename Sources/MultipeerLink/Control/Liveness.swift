package import MultipeerCore

/// Keep-alive and idle timeout: an idle peer is sent a PING, and when nothing is received after it the link ends.
/// Spec 14.2.
///
/// ```
///   heard ──keep-alive interval──▶ asked ──idle timeout──▶ (the link ends)
///     ▲  └──process was suspended──▶ asked, with grace ──grace over──▶ (the link ends)
///     └───────anything received───────┘
/// ```
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

    package init(_ timing: Timing, now: Moment) {
        self.timing = timing
        lastHeard = now
    }

    package mutating func heard(at now: Moment) {
        lastHeard = now
        phase = .heard
    }

    /// The next time at which `advance` has an effect.
    package var deadline: Moment {
        switch phase {
        case .heard: lastHeard + timing.keepAliveInterval  // [live.ping]
        case .asked(let until): until
        }
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
            // After a late PING, the peer still gets some time to respond.
            let answer = min(.seconds(1), timing.idleTimeout - timing.keepAliveInterval)
            phase = .asked(until: max(lastHeard + timing.idleTimeout, now + answer))
            return .ask
        case .asked:
            return .dead  // [live.idle-timeout]
        }
    }
}
