package import MultipeerCore

/// Keep-alive and idle timeout: a peer that is silent is sent a PING, and when nothing comes after it the link ends.
/// Spec 14.2.
///
/// ```
///   heard ──silence──▶ asked ──dead──▶ (the link ends)
///     ▲  └──────the process slept──▶ asked, in grace ──grace over──▶ (the link ends)
///     └──────anything received─────────┘
/// ```
package struct Liveness: Equatable, Sendable {
    /// The four durations of chapter 14.
    package struct Timing: Equatable, Sendable {
        /// Without receiving anything for so long, the peer is asked.
        package var keepAliveInterval: Duration
        /// Without receiving anything for so long, the peer is dead.
        package var idleTimeout: Duration
        /// A deadline that is noticed so late means that the process slept.
        package var sleep: Duration
        /// How long the peer has, after a sleep, to show itself.
        package var grace: Duration

        package init(
            keepAliveInterval: Duration = .seconds(3), idleTimeout: Duration = .seconds(10),
            sleep: Duration = .seconds(5),
            grace: Duration = .seconds(3)
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
        /// A PING is out; the peer has until then.
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

    /// The next moment at which `advance` has something to say.
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
            // Asked late, the peer still gets some time to answer.
            let answer = min(.seconds(1), timing.idleTimeout - timing.keepAliveInterval)
            phase = .asked(until: max(lastHeard + timing.idleTimeout, now + answer))
            return .ask
        case .asked:
            return .dead  // [live.dead]
        }
    }
}
