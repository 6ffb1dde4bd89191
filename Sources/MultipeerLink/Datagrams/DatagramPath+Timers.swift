package import MultipeerCore

extension DatagramPath {
    /// Exponential backoff: a repetition after 100 ms, then after twice as long each time, up to 1.6 s.
    /// Spec 10.4.
    package struct Backoff: Equatable, Sendable {
        package private(set) var next: Moment
        private var interval = Backoff.shortest

        init(now: Moment) { next = now + Self.shortest }

        mutating func advance(to now: Moment) {
            interval = min(interval * 2, Self.longest)  // [dgram.retransmit]
            next = now + interval
        }

        static let shortest = Duration.milliseconds(100)
        static let longest = Duration.milliseconds(1_600)
    }

    /// An attempt whose contents can be exchanged: when it pings, and when silence ends it.
    package struct Probe: Equatable, Sendable {
        package internal(set) var backoff: Backoff
        private let began: Moment
        private var limit = Duration.zero
        /// When silence ends it; distant until a content has come.
        package private(set) var end = Moment.distantFuture

        init(now: Moment) {
            backoff = Backoff(now: now)
            began = now
        }

        mutating func heard(at now: Moment, _ timing: Timing) {
            if end == .distantFuture {
                limit = max(timing.silence, (now - began) * 4)
                backoff = Backoff(now: now)
            }
            end = now + limit
        }

        /// Returns whether this end has overslept its ping, because it was suspended: then silence is no sign.
        func hasSlept(until now: Moment) -> Bool { backoff.next + Watch.slept < now }
    }

    /// The timer for the retransmission of handshake flights.
    package struct HandshakeTimer: Equatable, Sendable {
        package internal(set) var backoff: Backoff
        private var flights = 0

        init(now: Moment) { backoff = Backoff(now: now) }

        /// Returns whether the handshake has moved.
        mutating func made(_ flights: Int, at now: Moment) -> Bool {
            guard flights > self.flights else { return false }
            self.flights = flights
            backoff = Backoff(now: now)  // [dgram.retransmit]
            return true
        }
    }

    /// What an end whose path is up has sent since a content last came, and when it pings next.
    ///
    /// Only the answer shows that what was sent arrives. A message has none, so a ping soon follows one, and is repeated
    /// often: of many, one gets through a network that loses every third. Where contents go both ways, none is needed.
    package struct Watch: Equatable, Sendable {
        /// When this end sent a message or a ping for the first time since a content came; nil if it sent none.
        private var since: Moment?
        /// Whether it has sent a ping since.
        package private(set) var isAsking = false
        private var lastPing: Moment
        package private(set) var nextPing: Moment
        /// How many pings are still to measure the round trip, which is a guess so far.
        private var measurements = 0

        init(now: Moment, _ timing: Timing) {
            lastPing = now
            nextPing = now + timing.pings
        }

        var isWaiting: Bool { since != nil }
        var isMeasuring: Bool { measurements > 0 }

        mutating func sent(at now: Moment) {
            since = now
            nextPing = min(nextPing, now + Self.afterMessage)  // [dgram.path]
        }

        mutating func asked(at now: Moment, _ roundTrip: Duration) {
            since = since ?? now
            lastPing = now
            // [dgram.path]
            let isRepetition = isAsking && !isMeasuring
            measurements = max(measurements - 1, 0)
            nextPing =
                now
                + (isMeasuring
                    ? Self.firstRepetition
                    : isRepetition
                        ? max(Self.repetition, roundTrip / 4) : max(Self.firstRepetition, roundTrip * 2))
            isAsking = true
        }

        mutating func heard(at now: Moment, _ timing: Timing) {
            since = nil
            isAsking = false
            guard !isMeasuring else { return }
            nextPing = max(now, lastPing + timing.pings)  // [dgram.path]
        }

        /// Makes the next pings measure the round trip: one alone may be lost. Where it is as long as the guess, more of them
        /// than these are of no use before an answer can have come.
        mutating func measure() { measurements = 4 }

        mutating func measured(at now: Moment, _ timing: Timing) {
            measurements = 0
            heard(at: now, timing)
        }

        /// When the path is down, if nothing comes until then. [dgram.silence]
        func end(_ timing: Timing, _ roundTrip: Duration) -> Moment {
            since.map { $0 + max(timing.silence, roundTrip * 4) } ?? .distantFuture
        }

        /// Returns whether this end has overslept its ping, because it was suspended: then silence is no sign.
        func hasSlept(until now: Moment) -> Bool { nextPing + Self.slept < now }

        /// A ping that is later than this was overslept.
        static let slept = Duration.milliseconds(500)
        /// From the first message since a content came to the ping.
        static let afterMessage = Duration.milliseconds(500)
        /// From a ping to its repetition, if two round trips take no longer.
        static let firstRepetition = Duration.milliseconds(250)
        /// Between two more, if a quarter of a round trip is no longer.
        static let repetition = Duration.milliseconds(125)
    }
}
