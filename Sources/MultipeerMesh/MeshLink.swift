import MultipeerCore
import MultipeerLink

/// A link as membership sees it: who is at the other end, and what is still to be told there.
///
/// Not every link is of the mesh: one that is not takes a seat, and its peer is not sought.
struct MeshLink: Sendable {
    let endpoint: Endpoint
    let isMesh: Bool
    /// Attempts in a row that came to nothing, or to a link that did not last, before this one.
    let failures: Int
    let since: Moment
    /// We told the owner to end it, because its peer is one too many.
    var isDismissed = false
    /// Whose entries are to be written, in order; always the latest that is held.
    private(set) var queue: [Endpoint] = []
    /// What may be written now: less than the other end takes, so that no delay makes a flood of it. [mesh.pace]
    var sending: TokenBucket
    var receiving: TokenBucket

    /// Entries for each link. The receiver's bucket holds what an honest end writes while the network, or the receiver,
    /// stands still for longer than a link survives.
    enum RateLimits {
        static let burst = 32
        static let perSecond: Int64 = 15
        static let receivedBurst = 256
        static let receivedPerSecond: Int64 = 20
    }

    init(to endpoint: Endpoint, isMesh: Bool, failures: Int, at now: Moment) {
        self.endpoint = endpoint
        self.isMesh = isMesh
        self.failures = failures
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

    /// It is gone, or the other end has it already.
    mutating func dequeue(_ origin: Endpoint) { queue.removeAll { $0 == origin } }

    /// The next to be written, if it may be now.
    mutating func next(at now: Moment) -> Endpoint? {
        guard !queue.isEmpty, sending.consume(at: now) else { return nil }
        return queue.removeFirst()
    }

    var deadline: Moment? { queue.isEmpty ? nil : sending.nextToken }
}
