import MultipeerCore
import MultipeerTransport

extension SimulatedNetwork {
    /// The virtual time, for the application's sleeps and timeouts. It stands still while anything can run.
    public struct Clock: _Concurrency.Clock {
        /// A moment of virtual time.
        public struct Instant: InstantProtocol {
            /// The time since the network was created.
            public let offset: Duration

            /// Returns the instant that is `duration` later.
            public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            /// Returns how much later `other` is.
            public func duration(to other: Instant) -> Duration { other.offset - offset }
            /// Returns whether `one` is before `other`.
            public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
        }

        let time: VirtualTime

        /// The virtual time.
        public var now: Instant { Instant(offset: time.elapsed) }
        /// One nanosecond.
        public var minimumResolution: Duration { .nanoseconds(1) }

        /// Suspends until exactly `deadline`, whatever the tolerance. Throws `CancellationError` when the task is
        /// cancelled first.
        public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            try await time.sleep(until: VirtualTime.start + deadline.offset)
        }
    }

    /// Random numbers from the seed of a network. All copies draw from the same sequence.
    public struct Randomness: RandomNumberGenerator, Sendable {
        let time: VirtualTime

        /// Returns the next random number.
        public mutating func next() -> UInt64 { time.random() }
    }
}
