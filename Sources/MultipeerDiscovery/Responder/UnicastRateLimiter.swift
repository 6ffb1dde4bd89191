import MultipeerCore

/// Limits the rate of unicast responses: a large burst, and a lower sustained rate. [mdns.limit]
struct UnicastRateLimiter: Sendable {
    private var tokens = UnicastRateLimiter.most
    private var filled: Moment?

    /// Enough for all hosts on a busy link that start at the same time.
    private static let most: Int64 = 256
    private static let nanosecondsEach: Int64 = 1_000_000_000 / 64

    mutating func take(at now: Moment) -> Bool {
        let since = filled ?? now
        let more = max(0, now.nanoseconds &- since.nanoseconds) / UnicastRateLimiter.nanosecondsEach
        tokens = min(UnicastRateLimiter.most, tokens + min(more, UnicastRateLimiter.most))
        filled =
            tokens == UnicastRateLimiter.most
            ? now : since + .nanoseconds(more * UnicastRateLimiter.nanosecondsEach)
        guard tokens > 0 else { return false }
        tokens -= 1
        return true
    }
}
