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

    private var all = DialRate(burst: burst, perSecond: perSecond)
    private var byMember: [UID: DialRate] = [:]
    private var silent: [Candidate: SilentAddress] = [:]

    /// Returns the time of the next dial that entries of this member may cause: now, or later.
    func next(by member: UID, at now: Moment) -> Moment {
        max(all.next(at: now), (byMember[member] ?? Self.full).next(at: now))
    }

    /// Counts a dial.
    mutating func count(by member: UID, at now: Moment) {
        all.count(at: now)
        byMember[member, default: Self.full].count(at: now)
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

    private static var full: DialRate { DialRate(burst: burstPerMember, perSecond: perSecondPerMember) }
}

/// A rate limit with a burst, without a clock: it holds the time at which all of its burst is available again.
private struct DialRate: Sendable {
    private let interval: Duration
    private let burst: Int
    private var whole: Moment?

    init(burst: Int, perSecond: Int64) {
        self.burst = burst
        interval = .nanoseconds(1_000_000_000 / perSecond)
    }

    func next(at now: Moment) -> Moment {
        guard let whole else { return now }
        return max(now, whole + (.zero - interval * (burst - 1)))
    }

    mutating func count(at now: Moment) { whole = max(whole ?? now, now) + interval }

    func isFull(at now: Moment) -> Bool { whole.map { $0 <= now } ?? true }
}
