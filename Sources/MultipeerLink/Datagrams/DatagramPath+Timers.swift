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

    /// The timer for the retransmission of handshake flights.
    package struct HandshakeTimer: Equatable, Sendable {
        package internal(set) var backoff: Backoff
        private var flights = 0

        init(now: Moment) { backoff = Backoff(now: now) }

        mutating func made(_ flights: Int, at now: Moment) {
            guard flights > self.flights else { return }
            self.flights = flights
            backoff = Backoff(now: now)  // [dgram.retransmit]
        }
    }
}
