import MultipeerCore

/// The limit on dials that only members' entries cause: a member must not make this session connect to whatever addresses it
/// lists. Spec 11. [mesh.introduced]
///
/// A dial counts for the member whose entries introduced the endpoint, until that endpoint was met. An address that did not answer
/// is not dialled again for 30 s, doubled with each further dial up to 120 s.
struct IntroducedDials: Sendable {
    static let burst = 48
    static let perSecond: Int64 = 2
    static let burstPerMember = 24
    static let perSecondPerMember: Int64 = 1
    static let silentAddresses = 512
    static let members = 32
    static let firstPause = Duration.seconds(30)
    static let longestPause = Duration.seconds(120)

    private struct SilentAddress: Sendable {
        var dials = 0
        var end: Moment
    }

    /// Nil before the first dial.
    private var all: TokenBucket?
    private var byMember: [UID: TokenBucket] = [:]
    private var silent: [Candidate: SilentAddress] = [:]

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
        silent[address].map { $0.end <= now } ?? true
    }

    /// Notes that nothing answered at this address.
    mutating func failed(_ address: Candidate, at now: Moment) {
        var record = silent[address] ?? SilentAddress(end: now)
        record.end = now + min(Self.firstPause * (1 << min(record.dials, 2)), Self.longestPause)
        record.dials += 1
        silent[address] = record
        guard silent.count > Self.silentAddresses else { return }
        silent = silent.filter { now < $0.value.end }
        guard silent.count > Self.silentAddresses else { return }
        let first = silent.min { ($0.value.end, $0.key.port) < ($1.value.end, $1.key.port) }
        if let first { silent[first.key] = nil }
    }

    /// Notes that a peer answered at this address.
    mutating func answered(_ address: Candidate) { silent[address] = nil }

    private static func take(
        from bucket: inout TokenBucket?, _ burst: Int, _ perSecond: Int64, at now: Moment
    ) {
        var current = bucket ?? TokenBucket(capacity: burst, perSecond: perSecond, now: now)
        _ = current.consume(at: now)
        bucket = current
    }
}
