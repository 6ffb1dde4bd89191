import MultipeerCore

/// How many answers to single askers there may be: many at once, fewer for long. [mdns.limit]
struct UnicastRateLimiter: Sendable {
    private var tokens = UnicastRateLimiter.most
    private var filled: Moment?

    /// Enough for everybody on a busy link who starts at the same moment.
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
