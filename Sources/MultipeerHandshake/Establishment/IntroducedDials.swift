import MultipeerCore

/// The limit on dials that only members' entries cause: a member must not make this session connect to whatever addresses it
/// lists. Spec 11. [mesh.introduced]
///
/// A dial counts for the member whose entries introduced the endpoint, until that endpoint was met. An address that has never
/// answered is not dialled again for 30 s, doubled with each further dial up to 120 s.
struct IntroducedDials: Sendable {
    static let burst = 48
    static let perSecond: Int64 = 2
    static let burstPerMember = 24
    static let perSecondPerMember: Int64 = 1
    static let dialledAddresses = 512
    static let members = 32
    static let firstPause = Duration.seconds(30)
    static let longestPause = Duration.seconds(120)

    private struct DialledAddress: Sendable {
        /// Those that were not answered.
        var dials = 0
        /// The end of the pause, or the time of the answer.
        var end: Moment
        /// Whether a peer has answered there: then it is no invention, and perhaps only the network has failed. The peer may have
        /// restarted since, as an endpoint that was never met.
        var hasAnswered = false
    }

    /// Nil before the first dial.
    private var all: TokenBucket?
    private var byMember: [UID: TokenBucket] = [:]
    private var addresses: [Candidate: DialledAddress] = [:]

    /// Returns the time of the next dial that entries of this member may cause: now, or later.
    func next(by member: UID, at now: Moment) -> Moment {
        max(all?.next(at: now) ?? now, byMember[member]?.next(at: now) ?? now)
    }

    /// Counts a dial.
    mutating func count(by member: UID, at now: Moment) {
        Self.take(from: &all, Self.burst, Self.perSecond, at: now)
        Self.take(from: &byMember[member], Self.burstPerMember, Self.perSecondPerMember, at: now)
        guard byMember.count > Self.members else { return }
        byMember = byMember.filter { !$0.value.isFull(at: now) }
        // The total limit holds even if one of those that wait is forgotten.
        while byMember.count > Self.members, let first = byMember.keys.filter({ $0 != member }).min() {
            byMember[first] = nil
        }
    }

    /// Returns whether this address may be dialled: it has answered, or its pause is over.
    func mayDial(_ address: Candidate, at now: Moment) -> Bool {
        pauseEnd(of: address).map { $0 <= now } ?? true
    }

    /// Returns the end of the last pause of an address that did not answer.
    func pauseEnd(of address: Candidate) -> Moment? {
        addresses[address].flatMap { $0.hasAnswered ? nil : $0.end }
    }

    /// Notes that nothing answered at this address.
    mutating func failed(_ address: Candidate, at now: Moment) {
        var record = addresses[address] ?? DialledAddress(end: now)
        guard !record.hasAnswered else { return }
        record.end = now + min(Self.firstPause * (1 << min(record.dials, 2)), Self.longestPause)
        record.dials += 1
        store(record, of: address, at: now)
    }

    /// Notes that a peer answered at this address.
    mutating func answered(_ address: Candidate, at now: Moment) {
        store(DialledAddress(end: now, hasAnswered: true), of: address, at: now)
    }

    /// When there are too many, those that are not paused are forgotten, those that answered included.
    private mutating func store(_ record: DialledAddress, of address: Candidate, at now: Moment) {
        addresses[address] = record
        guard addresses.count > Self.dialledAddresses else { return }
        addresses = addresses.filter { now < $0.value.end }
        guard addresses.count > Self.dialledAddresses else { return }
        let first = addresses.min { ($0.value.end, $0.key) < ($1.value.end, $1.key) }
        if let first { addresses[first.key] = nil }
    }

    private static func take(
        from bucket: inout TokenBucket?, _ burst: Int, _ perSecond: Int64, at now: Moment
    ) {
        var current = bucket ?? TokenBucket(capacity: burst, perSecond: perSecond, now: now)
        _ = current.consume(at: now)
        bucket = current
    }
}
