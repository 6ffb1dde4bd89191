import MultipeerCore
import MultipeerLink
import MultipeerSecurity

/// The membership's state of a link: its peer, and the entries still to be sent.
///
/// Not every link is a mesh link: one that is not still counts against the limit, and no attempt is made to connect to
/// its peer.
struct MeshLink: Sendable {
    let endpoint: Endpoint
    let isMesh: Bool
    /// The key that the endpoint's connection data named; nil if its preference is none.
    let key: Fingerprint?
    let since: Moment
    /// Whether its end was requested, because its peer is one too many.
    var isDismissed = false
    /// The origins of the entries to be written, in order; always their latest stored entry.
    private(set) var queue: [Endpoint] = []
    /// The rate limit for writing: below what the other end accepts, so that no delay turns it into a flood.
    /// [mesh.rate-limit]
    var sending: TokenBucket
    var receiving: TokenBucket

    /// The rate limits for entries on each link. The receiver's bucket holds what an honest end writes while the
    /// network, or the receiver, stalls for longer than a link survives.
    enum RateLimits {
        static let burst = 32
        static let perSecond: Int64 = 15
        static let receivedBurst = 256
        static let receivedPerSecond: Int64 = 20
    }

    init(to endpoint: Endpoint, isMesh: Bool, key: Fingerprint?, at now: Moment) {
        self.endpoint = endpoint
        self.isMesh = isMesh
        self.key = key
        since = now
        sending = TokenBucket(capacity: RateLimits.burst, perSecond: RateLimits.perSecond, now: now)
        receiving = TokenBucket(
            capacity: RateLimits.receivedBurst, perSecond: RateLimits.receivedPerSecond, now: now)
    }

    mutating func enqueue(_ origin: Endpoint, first: Bool = false) {
        if first {
            dequeue(origin)
            queue.insert(origin, at: 0)
        } else if !queue.contains(origin) {
            queue.append(origin)
        }
    }

    /// Removes an entry that no longer exists, or that the other end already has.
    mutating func dequeue(_ origin: Endpoint) { queue.removeAll { $0 == origin } }

    /// Returns the next origin, if its entry may be written now.
    mutating func next(at now: Moment) -> Endpoint? {
        guard !queue.isEmpty, sending.consume(at: now) else { return nil }
        return queue.removeFirst()
    }

    var deadline: Moment? { queue.isEmpty ? nil : sending.nextToken }
}
