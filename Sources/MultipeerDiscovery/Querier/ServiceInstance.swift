import MultipeerCore

/// One service instance as known on one scope. Spec 12.6.
///
/// ```
///   named ──SRV, TXT──▶ complete ──SRV expired, goodbye, no response──▶ (dropped)
///     └──four unanswered queries──▶ (dropped)
/// ```
struct ServiceInstance: Sendable {
    let uid: UID
    /// The host that sent it, and when: for fair shares of the capacity.
    let source: [UInt8]
    let order: UInt64

    private(set) var pointer = RecordSet(most: 1, isKept: true)
    private(set) var server: RecordSet
    private(set) var text = RecordSet(most: 2, isKept: true)
    /// The peer described by the newest TXT record.
    private(set) var peer: DiscoveredPeer?
    /// Whether it answered a question about itself.
    private(set) var isConfirmed = false
    /// Non-nil while SRV or TXT are missing.
    private var search: QuerySchedule?
    private var check: Check?
    private var askedAt: Moment?
    private var hadServer = false
    private var readData: [UInt8]?
    /// The latest start of its advertiser: a record of an earlier one that is repeated does not bring that back.
    private var start: Start?

    private struct Start {
        let host: DNSName
        let order: UInt64
    }

    /// The check whether the instance still exists. RFC 6762, 10.4.
    private struct Check: Sendable {
        var questions: QuerySchedule
        let until: Moment
    }

    struct Appearance: Equatable {
        let peer: PresentPeer
        let freshness: UInt64
    }

    init(uid: UID, _ reception: RecordReception) {
        self.uid = uid
        source = reception.source
        order = reception.order
        // Any host can announce another place for a uid. Only the peer has the key, so that trying all of them is safe.
        // [mdns.flush]
        server = RecordSet(
            most: uid.isKeyed ? ServiceInstance.mostServers : 2, isKept: true, isFlushed: !uid.isKeyed)
    }

    /// Whether all records of the instance are known. [mdns.lost]
    var isComplete: Bool { !pointer.isEmpty && !server.isEmpty && peer != nil }
    /// What is reported of it; nil while something is missing.
    var appearance: Appearance? {
        guard isComplete, let peer else { return nil }
        return Appearance(peer: PresentPeer(peer, host: start?.host), freshness: freshness)
    }
    /// The order in which its TXT data, or the host of its latest start, were first received.
    var freshness: UInt64 { max(text.newest?.order ?? 0, start?.order ?? 0) }
    var count: Int { pointer.count + server.count + text.count }
    var byteCount: Int { pointer.byteCount + server.byteCount + text.byteCount }

    /// The hosts to which the SRV records point.
    var targets: [DNSName] { server.records.compactMap { ServiceInstance.destination($0)?.name } }

    /// The hosts and ports at which it may be: that of the newest SRV record, and for a keyed uid those of the others, the newest
    /// first.
    var destinations: [(name: DNSName, port: UInt16)] {
        let newest = server.newest
        let others = uid.isKeyed ? server.records.reversed().filter { $0.data != newest?.data } : []
        return (([newest].compactMap(\.self)) + others).compactMap(ServiceInstance.destination)
    }

    private static func destination(_ record: CachedRecord) -> (name: DNSName, port: UInt16)? {
        guard case .srv(_, _, let port, let target) = record.data else { return nil }
        return (target, port)
    }
}

/// Records.
extension ServiceInstance {
    mutating func learnPointer(_ record: DNSRecord, _ reception: RecordReception, jitter: inout Jitter) {
        pointer.learn(record, reception, jitter: &jitter)
        searchIfNeeded(at: reception.now, jitter: &jitter)
    }

    mutating func learnServer(_ record: DNSRecord, _ reception: RecordReception, jitter: inout Jitter) {
        server.learn(record, reception, jitter: &jitter)
        readServer()
        if record.ttl > 0, !reception.isOneShot {
            check = nil
            if let askedAt, reception.now - askedAt <= ServiceInstance.answerTime { isConfirmed = true }
        }
        hadServer = hadServer || !server.isEmpty
        searchIfNeeded(at: reception.now, jitter: &jitter)
    }

    /// Stores a TXT record; one of another format is treated as absent. [service.txt]
    mutating func learnText(_ record: DNSRecord, _ reception: RecordReception, jitter: inout Jitter) {
        guard case .txt(let bytes) = record.data else { return }
        if Binding.read(txt: bytes, uid: uid) != nil {
            // The record that it replaced less than a second ago was not flushed, and must not reappear.
            // [mdns.lost]
            if record.ttl == 0, text.newest?.data == record.data { text.leave(at: reception.now) }
            text.learn(record, reception, jitter: &jitter)
        } else if record.isCacheFlush, !reception.isOneShot {
            text.flush(at: reception.now)
        }
        readText()
        searchIfNeeded(at: reception.now, jitter: &jitter)
    }

    /// Expires records; returns whether the instance is to be dropped.
    mutating func expire(at now: Moment, jitter: inout Jitter) -> Bool {
        pointer.expire(at: now)
        server.expire(at: now)
        readServer()
        text.expire(at: now)
        readText()
        if let check, check.until <= now { return true }  // [mdns.reconfirm]
        if let search, search.count >= ServiceInstance.mostSearches, search.due <= now { return true }
        if pointer.isEmpty || hadServer && server.isEmpty { return true }  // [mdns.lost]
        searchIfNeeded(at: now, jitter: &jitter)
        return false
    }

    /// Whether the instance sent a goodbye.
    var isLeaving: Bool { pointer.isLeaving || hadServer && server.isLeaving }

    /// Another host is another start; another port, or the same record again, is none. [mdns.restart]
    private mutating func readServer() {
        guard let latest = server.latest, let host = ServiceInstance.destination(latest)?.name else {
            start = nil
            return
        }
        if host != start?.host { start = Start(host: host, order: latest.order) }
    }

    private mutating func readText() {
        guard let newest = text.newest, case .txt(let bytes) = newest.data else {
            (peer, readData) = (nil, nil)
            return
        }
        if bytes != readData { (peer, readData) = (Binding.read(txt: bytes, uid: uid), bytes) }
    }

    private mutating func searchIfNeeded(at now: Moment, jitter: inout Jitter) {
        if !server.isEmpty, !text.isEmpty {
            search = nil
        } else if search == nil {
            search = QuerySchedule(due: now + jitter.hesitation())
        }
    }
}

/// Questions.
extension ServiceInstance {
    /// Queries whether it still exists, starting at `start`; without an answer it is dropped by `until`, or by the end of a check that
    /// began before.
    mutating func doubt(from start: Moment, until: Moment) {
        let check = check ?? Check(questions: QuerySchedule(due: start), until: until)
        self.check = Check(questions: check.questions, until: min(check.until, until))
    }

    /// Limits the lifetime of its records after a sleep.
    mutating func reprieve(from start: Moment, until: Moment) {
        pointer.reprieve(until: until)
        server.reprieve(until: until)
        text.reprieve(until: until)
        check = nil
        doubt(from: start, until: until)
    }

    /// Returns the questions about it that are due now, and their families.
    mutating func takeQuestions(
        of families: Set<Family>, at now: Moment, jitter: inout Jitter
    ) -> [DNSType: Set<Family>] {
        var wanted: [DNSType: Set<Family>] = [:]
        if let search, search.due <= now {
            let open = families.subtracting(search.covered)
            if server.isEmpty { wanted[.srv, default: []].formUnion(open) }
            if text.isEmpty { wanted[.txt, default: []].formUnion(open) }
            self.search?.asked(at: now)
        }
        if let questions = check?.questions, questions.due <= now {
            wanted[.srv, default: []].formUnion(families.subtracting(questions.covered))
            check?.questions.asked(at: now)
        }
        wanted[.srv, default: []].formUnion(server.takeRefresh(of: families, at: now, jitter: &jitter))
        wanted[.txt, default: []].formUnion(text.takeRefresh(of: families, at: now, jitter: &jitter))
        if wanted[.srv]?.isEmpty == false { askedAt = now }
        return wanted.filter { !$0.value.isEmpty }
    }

    /// Returns whether `takeQuestions` would return a question.
    func isQuestionDue(at now: Moment) -> Bool { questionDeadline.map { $0 <= now } ?? false }

    var questionDeadline: Moment? {
        let refreshes = (server.records + text.records).compactMap { $0.refresh?.due }
        let search = search.flatMap { $0.count < ServiceInstance.mostSearches ? $0.due : nil }
        return (refreshes + [search, check?.questions.due].compactMap(\.self)).min()
    }

    var expiry: Moment? {
        let records = pointer.records + server.records + text.records
        let giveUp = search.flatMap { $0.count >= ServiceInstance.mostSearches ? $0.due : nil }
        return (records.map(\.expires) + [check?.until, giveUp].compactMap(\.self)).min()
    }

    /// Handles a question about it, to which every host on the scope should receive the answer.
    mutating func expectAnswer(_ type: DNSType, in family: Family, at now: Moment) {
        switch type {
        case .ptr: pointer.expectAnswer(in: family, at: now)
        case .srv: server.expectAnswer(in: family, at: now)
        case .txt: text.expectAnswer(in: family, at: now)
        default: break
        }
    }

    /// Handles another host's question that we may be about to ask.
    mutating func heardQuestion(
        _ type: DNSType, in family: Family, of families: Set<Family>, at now: Moment, jitter: inout Jitter
    ) {
        switch type {
        case .srv:
            check?.questions.heard(in: family, of: families, at: now)
            server.heardQuestion(in: family, of: families, at: now, jitter: &jitter)
        case .txt: text.heardQuestion(in: family, of: families, at: now, jitter: &jitter)
        default: break
        }
    }

    func isKnownAnswer(at now: Moment) -> Bool {
        check == nil && pointer.newest?.isKnownAnswer(at: now) == true
    }

    mutating func takePointerRefresh(
        of families: Set<Family>, at now: Moment, jitter: inout Jitter
    ) -> Set<Family> {
        pointer.takeRefresh(of: families, at: now, jitter: &jitter)
    }

    var pointerRefresh: Moment? { pointer.records.lazy.compactMap { $0.refresh?.due }.min() }

    private static let mostSearches = 4
    /// The number of SRV records that are kept of a keyed uid.
    private static let mostServers = 4
    /// A response within this time after a question is taken as its answer.
    private static let answerTime = Duration.seconds(2)
}
