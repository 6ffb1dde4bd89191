package import MultipeerCore

/// How much of a connection's data goes ahead of what is urgent, in the kernel and in what is sealed: about as much as the network
/// carries in half a second. What is sent later cannot overtake it: with 64 KiB, a message waits 10 ms for a file at 100 Mbit/s,
/// instead of 220 ms; but at 128 kbit/s the answer to a PING would wait for 4 s. [live.ahead]
///
/// Pure. Its owner measures only when the network is slower than the owner: where it is not, nothing waits.
package struct SendAhead: Equatable, Sendable {
    /// The limit in bytes.
    package private(set) var limit: Int
    private var nextMeasurement: Moment?

    /// Before the first measurement.
    package static let initial = 16_384
    package static let range = 4_096...65_536
    /// How often it is measured; earlier again after a measurement with too little to send.
    static let interval = Duration.milliseconds(250)
    static let shortInterval = Duration.milliseconds(50)

    /// `isMeasured`: the system reports the rate.
    package init(isMeasured: Bool) { limit = isMeasured ? SendAhead.initial : SendAhead.range.upperBound }

    /// Returns whether to measure now, when the connection takes no more.
    package func isDue(at now: Moment) -> Bool { nextMeasurement.map { $0 <= now } ?? true }

    /// Takes a measurement, in bytes a second; 0 when the rate is not known. Returns whether the limit has changed.
    package mutating func measured(_ rate: UInt64, isLow: Bool, at now: Moment) -> Bool {
        nextMeasurement = now + (isLow ? SendAhead.shortInterval : SendAhead.interval)
        guard rate > 0 else { return false }
        let half = Int(clamping: rate / 2)
        // Too little was sent to say that the network is slow.
        if isLow, half < limit { return false }
        let before = limit
        limit = min(max(half, SendAhead.range.lowerBound), SendAhead.range.upperBound)
        return limit != before
    }
}
