import MultipeerCore

/// The records of one name and type on one scope, the most recently received last. RFC 6762, 10.2.
struct RecordSet: Sendable {
    private(set) var records: [CachedRecord] = []
    private let most: Int
    /// Whether the records are refreshed before they expire.
    private let isKept: Bool
    /// Whether a record with the cache-flush bit replaces the others.
    private let isFlushed: Bool

    init(most: Int, isKept: Bool, isFlushed: Bool = true) {
        self.most = most
        self.isKept = isKept
        self.isFlushed = isFlushed
    }

    var isEmpty: Bool { records.isEmpty }
    var count: Int { records.count }
    var byteCount: Int { records.reduce(0) { $0 + $1.byteCount } }
    var newest: CachedRecord? { records.last { !$0.isLeaving } ?? records.last }
    /// The record whose data were first received last, even if another one was repeated since, or this one withdrawn.
    var latest: CachedRecord? { records.max { $0.order < $1.order } }
    /// Whether every record is about to expire after a goodbye or a flush.
    var isLeaving: Bool { records.allSatisfy(\.isLeaving) }
    func contains(_ data: DNSData) -> Bool { records.contains { $0.data == data } }
    var deadline: Moment? { records.lazy.map(\.deadline).min() }

    mutating func learn(_ record: DNSRecord, _ reception: RecordReception, jitter: inout Jitter) {
        let place = records.firstIndex { $0.data == record.data }
        if record.ttl == 0 {
            if let place { records[place].leave(at: reception.now) }  // [mdns.lost]
            return
        }
        if let place {
            var known = records.remove(at: place)
            known.hear(record, reception, isKept: isKept, jitter: &jitter)
            records.append(known)
        } else {
            if records.count >= most { records.removeFirst() }
            records.append(CachedRecord(record, reception, isKept: isKept, jitter: &jitter))
        }
        if record.isCacheFlush, !reception.isOneShot, isFlushed { flush(at: reception.now) }
    }

    /// Expires records that were not received within the last second. [mdns.flush]
    mutating func flush(at now: Moment) {
        for place in records.indices where now - records[place].heard > CachedRecord.goodbyeLifetime {
            records[place].leave(at: now)
        }
    }

    /// Handles a goodbye for all records.
    mutating func leave(at now: Moment) {
        for place in records.indices { records[place].leave(at: now) }
    }

    mutating func expire(at now: Moment) { records.removeAll { $0.expires <= now } }

    mutating func reprieve(until: Moment) {
        for place in records.indices { records[place].reprieve(until: until) }
    }

    mutating func expectAnswer(in family: Family, at now: Moment) {
        for place in records.indices { records[place].expectAnswer(in: family, at: now) }
    }

    mutating func heardQuestion(
        in family: Family, of families: Set<Family>, at now: Moment, jitter: inout Jitter
    ) {
        for place in records.indices {
            records[place].refresh?.heard(in: family, of: families, at: now, jitter: &jitter)
        }
    }

    /// Returns the families in which a record is to be queried now, so that it does not expire.
    mutating func takeRefresh(of families: Set<Family>, at now: Moment, jitter: inout Jitter) -> Set<Family> {
        var wanted: Set<Family> = []
        for place in records.indices {
            guard let refresh = records[place].refresh, let due = refresh.due, due <= now else { continue }
            wanted.formUnion(families.subtracting(refresh.covered))
            records[place].refresh?.asked(at: now, jitter: &jitter)
        }
        return wanted
    }
}
