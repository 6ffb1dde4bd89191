import MultipeerCore

/// The circumstances in which a record was received.
struct RecordReception: Sendable {
    let now: Moment
    /// Increases with every message.
    let order: UInt64
    let source: [UInt8]
    let family: Family
    /// Whether it answers a question that was sent from a separate port.
    let isOneShot: Bool
}

/// One received record, and how long it is valid. RFC 6762, 10; Spec 12.6.
struct CachedRecord: Sendable {
    let data: DNSData
    /// The order in which these data were first received: greater is later.
    let order: UInt64
    let byteCount: Int
    private(set) var heard: Moment
    private(set) var lifetime: Duration
    private(set) var expires: Moment
    /// Whether only a one-shot response contained it; an ordinary one has to confirm it.
    private(set) var isTentative: Bool
    /// Whether its owner withdrew it, or it is not among the records that replaced it.
    private(set) var isLeaving = false
    var refresh: RefreshSchedule?
    private var families: Set<Family>
    private var unanswered = 0
    private var lastUnanswered: Moment?

    init(_ record: DNSRecord, _ reception: RecordReception, isKept: Bool, jitter: inout Jitter) {
        data = record.data
        order = reception.order
        byteCount = 128 + record.name.encodedCount + record.data.roughCount
        heard = reception.now
        lifetime = CachedRecord.lifetime(of: record, isOneShot: reception.isOneShot)
        expires = heard + lifetime
        isTentative = reception.isOneShot
        families = [reception.family]
        if isKept { refresh = RefreshSchedule(heard: heard, lifetime: lifetime, jitter: &jitter) }
    }

    /// Handles another reception of the same data.
    mutating func hear(_ record: DNSRecord, _ reception: RecordReception, isKept: Bool, jitter: inout Jitter)
    {
        let lifetime = CachedRecord.lifetime(of: record, isOneShot: reception.isOneShot)
        if reception.isOneShot, reception.now + lifetime <= expires { return }
        heard = reception.now
        self.lifetime = lifetime
        expires = heard + lifetime
        isTentative = reception.isOneShot
        isLeaving = false
        families.insert(reception.family)
        unanswered = 0
        lastUnanswered = nil
        refresh = isKept ? RefreshSchedule(heard: heard, lifetime: lifetime, jitter: &jitter) : nil
    }

    /// Handles a goodbye or a cache flush: the record has one second left, in which it can be rescued. RFC 6762, 10.1
    /// and 10.2.
    mutating func leave(at now: Moment) {
        expires = min(expires, now + CachedRecord.goodbyeLifetime)
        isLeaving = true
        refresh = nil
    }

    /// Limits the lifetime after a sleep to the time that it takes to query the record again.
    mutating func reprieve(until: Moment) {
        guard !isLeaving, expires < until else { return }
        expires = until
        refresh = nil
    }

    /// Notes a question for this record whose answer every host should receive. After two such questions and ten
    /// seconds without an answer the record expires. RFC 6762, 10.5.
    mutating func expectAnswer(in family: Family, at now: Moment) {
        guard families.contains(family), now - heard >= CachedRecord.answerPause else { return }
        if let lastUnanswered, now - lastUnanswered < CachedRecord.answerPause { return }
        lastUnanswered = now
        unanswered += 1
        // [mdns.reconfirm]
        if unanswered >= 2 { expires = min(expires, now + CachedRecord.reconfirmTimeout) }
    }

    /// Returns whether it is included in a question as a known answer. RFC 6762, 7.1.
    func isKnownAnswer(at now: Moment) -> Bool {  // [mdns.known-answer]
        !isTentative && !isLeaving && expires - now > lifetime / 2
    }

    /// Returns the remaining lifetime in whole seconds, at least one.
    func remaining(at now: Moment) -> UInt32 {
        UInt32(clamping: max(1, (expires - now).wholeNanoseconds / 1_000_000_000))
    }

    var deadline: Moment { min(expires, refresh?.due ?? expires) }
}

extension CachedRecord {
    static let goodbyeLifetime = Duration.seconds(1)  // [mdns.lost]
    static let reconfirmTimeout = Duration.seconds(10)
    /// The same once connections are refused.
    static let refusedTimeout = Duration.seconds(3)
    static let tentativeLifetime = Duration.seconds(10)
    /// A responder need not repeat an answer within a second.
    private static let answerPause = Duration.seconds(1)

    /// Returns the TTL of the sender, limited so that no host can make us keep a dead record, or query all the time.
    static func lifetime(of record: DNSRecord, isOneShot: Bool) -> Duration {
        if isOneShot { return min(.seconds(Int64(record.ttl)), tentativeLifetime) }  // [mdns.one-shot]
        let longest: UInt32 =
            switch record.data {
            case .ptr, .txt: 4_500
            default: 120
            }
        return .seconds(Int64(min(max(record.ttl, 10), longest)))  // [mdns.ttl]
    }
}

extension DNSData {
    /// The approximate size in memory, in bytes.
    fileprivate var roughCount: Int {
        switch self {
        case .a, .aaaa: 16
        case .ptr(let name), .srv(_, _, _, let name), .nsec(let name, _): name.encodedCount
        case .txt(let bytes), .other(_, let bytes): bytes.count
        }
    }
}
