import MultipeerCore
import MultipeerTransport

extension SimulatedNetwork {
    /// The virtual time, for the application's sleeps and timeouts. It stands still while anything can run.
    public struct Clock: _Concurrency.Clock {
        /// A moment of virtual time.
        public struct Instant: InstantProtocol {
            /// Since the network was made.
            public let offset: Duration

            /// So much later.
            public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            /// How much later the other one is.
            public func duration(to other: Instant) -> Duration { other.offset - offset }
            /// Whether one is before the other.
            public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
        }

        let time: VirtualTime

        /// The virtual time.
        public var now: Instant { Instant(offset: time.elapsed) }
        /// A nanosecond.
        public var minimumResolution: Duration { .nanoseconds(1) }

        /// Returns at that moment, whatever the tolerance. Throws `CancellationError` when the task is cancelled first.
        public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            try await time.sleep(until: VirtualTime.start + deadline.offset)
        }
    }

    /// Chance from the seed of a network. All copies draw from it.
    public struct Randomness: RandomNumberGenerator, Sendable {
        let time: VirtualTime

        /// The next number of the seed.
        public mutating func next() -> UInt64 { time.random() }
    }
}
