/// The rate limit on control frames: a token bucket that time and traffic fill. Spec 15.2. [limit.control]
///
/// Traffic counts in both directions, by the message credit that it consumes: a receiver's CREDIT frames answer the
/// sender's consumption, so the more is consumed the more of them are due.
package struct TokenBucket: Sendable {
    package static let capacity = 400
    package static let perSecond: Int64 = 100
    package static let trafficPerToken = 16_384

    private let capacity: Int
    private let interval: Int64
    private var tokens: Int
    /// The time at which the last whole token of time was added.
    private var filled: Moment
    /// The traffic not yet converted into a token.
    @usableFromInline var traffic = 0

    package init(
        capacity: Int = TokenBucket.capacity, perSecond: Int64 = TokenBucket.perSecond, now: Moment
    ) {
        self.init(capacity: capacity, every: .nanoseconds(1_000_000_000 / perSecond), now: now)
    }

    /// Creates a bucket that gains one token per `interval`.
    package init(capacity: Int, every interval: Duration, now: Moment) {
        self.capacity = capacity
        self.interval = interval.wholeNanoseconds
        tokens = capacity
        filled = now
    }

    @inlinable package mutating func refill(_ cost: Int) { traffic &+= cost }

    /// Returns the number of tokens available now.
    package func available(at now: Moment) -> Int {
        var later = self
        later.fill(at: now)
        return later.tokens
    }

    /// Returns whether it has all of its tokens.
    package func isFull(at now: Moment) -> Bool { available(at: now) == capacity }

    /// Returns when there is a token: now, or when time adds the next one.
    package func next(at now: Moment) -> Moment {
        var later = self
        later.fill(at: now)
        return later.tokens > 0 ? now : later.filled + .nanoseconds(interval)
    }

    /// Takes `count` tokens; returns false, and takes none, when there are fewer.
    package mutating func consume(_ count: Int = 1, at now: Moment) -> Bool {
        fill(at: now)
        guard tokens >= count else { return false }
        tokens -= count
        return true
    }

    /// The time of the next token of time, as of the last `consume`.
    package var nextToken: Moment { filled + .nanoseconds(interval) }

    private mutating func fill(at now: Moment) {
        let passed = max(0, (now - filled).wholeNanoseconds / interval)
        filled = filled + .nanoseconds(passed * interval)
        let earned = traffic / Self.trafficPerToken
        traffic %= Self.trafficPerToken
        tokens = Int(min(Int64(capacity), Int64(tokens) + Int64(earned) + min(passed, Int64(capacity))))
    }
}
