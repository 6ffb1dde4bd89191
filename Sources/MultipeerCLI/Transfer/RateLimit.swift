/// A token bucket of bytes (RFC 2697, section 3): at most the rate leaves in a second, with a burst of a tenth of a second.
package struct RateLimit: Sendable {
    /// In bytes per second.
    package let rate: UInt64
    /// In bytes: negative while bytes were taken in advance.
    private var tokens: Double
    private var last: Duration?

    package init(_ rate: UInt64) {
        self.rate = max(1, rate)
        tokens = Double(self.rate) / RateLimit.burst
    }

    /// The parts of a second.
    private static let burst = 10.0

    /// The most bytes that should be taken at once, so that they leave evenly.
    package var piece: Int { max(1, Int(min(Double(rate) / RateLimit.burst, 262_144))) }

    /// Takes bytes, and returns how long to wait before they are sent. `now` is a time of any clock.
    package mutating func take(_ bytes: Int, at now: Duration) -> Duration {
        if let last, now > last {
            tokens = min(Double(rate) / RateLimit.burst, tokens + (now - last) / .seconds(1) * Double(rate))
        }
        last = max(now, last ?? now)
        tokens -= Double(bytes)
        return tokens >= 0 ? .zero : .seconds(-tokens / Double(rate))
    }
}
