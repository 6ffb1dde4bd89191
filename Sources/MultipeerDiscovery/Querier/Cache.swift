import MultipeerCore

/// The records known on one scope, only of the service types that are browsed. RFC 6762, 10; Spec 12.6.
///
/// Other records are dropped at once, so most of a flood takes no space.
struct Cache: Sendable {
    static let most = 1_024  // [mdns.limit]
    /// The limit for addresses that no resolution waits for, so that they do not fill the cache.
    private static let mostWithAddresses = 896
    static let mostBytes = 1 << 20

    var scope: Scope
    private(set) var tables: [DNSName: InstanceTable] = [:]
    private(set) var hosts = HostTable()
    /// The questions from separate ports that may still be answered.
    private var oneShots: [UInt16: Moment] = [:]

    init(_ scope: Scope) { self.scope = scope }

    var count: Int { tables.values.reduce(hosts.count) { $0 + $1.count } }
    var byteCount: Int { tables.values.reduce(hosts.byteCount) { $0 + $1.byteCount } }
    var deadline: Moment { tables.values.reduce(hosts.deadline) { min($0, $1.deadline) } }

    /// Changes one table, and the hosts accordingly when the targets of SRV records change.
    private mutating func change<R>(_ service: DNSName, _ body: (inout InstanceTable) -> R) -> R? {
        guard var table = tables.removeValue(forKey: service) else { return nil }
        let result = body(&table)
        hosts.apply(table.takeTargetChanges())
        tables[service] = table
        return result
    }

    /// Returns the peers whose appearance has changed since the last call.
    mutating func takeChanged() -> [(service: DNSName, uids: Set<UID>)] {
        var all: [(service: DNSName, uids: Set<UID>)] = []
        for service in tables.keys.sorted() {
            guard let uids = change(service, { $0.takeChanged() }), !uids.isEmpty else { continue }
            all.append((service, uids))
        }
        return all
    }
}

/// Browsing.
extension Cache {
    /// Starts or restarts the query for the instances of a type.
    mutating func ask(for service: DNSName, from now: Moment, at due: Moment) {
        if tables[service] == nil {
            tables[service] = InstanceTable(service, asking: QuerySchedule(due: due))
        } else {
            _ = change(service) { $0.restart(at: due) }
        }
        tables[service]?.lastRequest = now
    }

    /// Sets whether a peer of that type is missed, which is asked for more often.
    mutating func setMissing(_ isMissing: Bool, of service: DNSName) {
        _ = change(service) {
            $0.asking.mostGap = isMissing ? QuerySchedule.missedGap : QuerySchedule.longestGap
        }
    }

    /// Returns whether the instances of that type were not asked for within the last second.
    func mayAsk(for service: DNSName, at now: Moment) -> Bool {
        let table = tables[service]
        let last = [table?.lastAsked, table?.lastRequest].compactMap(\.self).max()
        return last.map { now - $0 >= QuerySchedule.firstGap } ?? true
    }

    mutating func dropAll(of service: DNSName) { _ = change(service) { $0.dropAll() } }

    mutating func stopAsking(for service: DNSName) {
        _ = change(service) { $0.dropAll() }
        tables[service] = nil
    }

    /// Returns the message of a question from a separate port. RFC 6762, 5.1.
    mutating func oneShot(_ questions: [DNSQuestion], at now: Moment, jitter: inout Jitter) -> DNSMessage {
        oneShots = oneShots.filter { $0.value > now }
        if oneShots.count >= Cache.mostOneShots { oneShots = [:] }
        var message = DNSMessage()
        message.id = UInt16.random(in: 1...UInt16.max, using: &jitter)
        message.questions = questions
        oneShots[message.id] = now + CachedRecord.tentativeLifetime
        return message
    }

    private static let mostOneShots = 256

    /// Returns whether a response to one of our ports answers a question that was sent from it. [mdns.one-shot]
    func isExpected(_ message: DNSMessage, at now: Moment) -> Bool {
        oneShots[message.id].map { $0 > now } ?? false
    }
}

/// Received records.
extension Cache {
    /// Stores records in the order of their dependencies: PTR, then SRV and TXT, then addresses.
    mutating func learn(
        _ records: [DNSRecord], _ reception: RecordReception, spareBytes: Int, jitter: inout Jitter
    ) {
        var spare = spareBytes
        for record in records where record.type == .ptr {
            guard tables[record.name] != nil else { continue }
            learnPointer(record, reception, hasBytes: spare > 0, jitter: &jitter)
            spare -= record.encodedCount
        }
        for record in records where record.type == .srv || record.type == .txt {
            guard let service = record.name.parent, let known = tables[service]?.knows(record),
                known || spare > 0 && makeRoom(1)
            else { continue }
            _ = change(service) { $0.learnDetail(record, reception, jitter: &jitter) }
            spare -= record.encodedCount
        }
        for record in records where record.type == .a || record.type == .aaaa {
            guard let host = hosts[record.name] else { continue }
            let most = host.wantedUntil == nil ? Cache.mostWithAddresses : Cache.most
            guard host.contains(record.data) || spare > 0 && count < most else { continue }
            hosts.learn(record, reception, jitter: &jitter)
            spare -= record.encodedCount
        }
    }

    private mutating func learnPointer(
        _ record: DNSRecord, _ reception: RecordReception, hasBytes: Bool, jitter: inout Jitter
    ) {
        guard case .ptr(let instance) = record.data else { return }
        var hasRoom = hasBytes && makeRoom(3)
        if !hasRoom, tables[record.name]?.serviceInstances[instance] == nil {
            hasRoom = giveWay(to: record.name)
        }
        _ = change(record.name) { $0.learnPointer(record, reception, hasRoom: hasRoom, jitter: &jitter) }
    }

    /// Evicts addresses in favour of instances: they can be queried when they are needed.
    private mutating func makeRoom(_ records: Int) -> Bool {
        while count + records > Cache.most {
            guard hosts.giveWay() else { return false }
        }
        return true
    }

    /// Makes room for a type with few instances by evicting from the one with most. [mdns.limit]
    private mutating func giveWay(to service: DNSName) -> Bool {
        let own = tables[service]?.serviceInstances.count ?? 0
        let others = tables.filter { $0.key != service && $0.value.serviceInstances.count > own + 1 }
        let largest = others.max { one, other in
            (one.value.serviceInstances.count, one.key) < (other.value.serviceInstances.count, other.key)
        }
        return largest.flatMap { change($0.key) { $0.giveWay() } } ?? false
    }

    /// Handles another host's question: expects its answers, and suppresses our duplicate questions.
    mutating func suppressDuplicates(
        _ question: DNSQuestion, knowing known: Set<DNSName>, in family: Family, at now: Moment,
        jitter: inout Jitter
    ) {
        guard let service = service(of: question) else { return }
        let families = scope.families
        _ = change(service) { table in
            table.heardQuestion(
                question, knowing: known, in: family, of: families, at: now, jitter: &jitter)
            table.expectAnswer(to: question, unless: known, in: family, at: now)
        }
    }

    private func service(of question: DNSQuestion) -> DNSName? {
        switch question.type {
        case .ptr: tables[question.name] == nil ? nil : question.name
        case .srv, .txt: question.name.parent.flatMap { tables[$0] == nil ? nil : $0 }
        default: nil
        }
    }
}

/// Time, and the questions that are due.
extension Cache {
    mutating func expire(at now: Moment, jitter: inout Jitter) {
        for service in tables.keys.sorted() {
            _ = change(service) { $0.expire(at: now, jitter: &jitter) }
        }
        hosts.expire(at: now)
    }

    mutating func takeQuestions(at now: Moment, jitter: inout Jitter) -> [DueQuestion] {
        let families = scope.families
        var due: [DueQuestion] = []
        for service in tables.keys.sorted() where tables[service]?.isQuestionDue(at: now) == true {
            due += change(service) { $0.takeQuestions(of: families, at: now, jitter: &jitter) } ?? []
        }
        return due + hosts.takeQuestions(of: families, at: now)
    }

    /// Notes our own question as one whose answer every host should receive. RFC 6762, 10.5.
    mutating func asked(_ due: DueQuestion, at now: Moment) {
        guard let service = service(of: due.question) else { return }
        let known = Set(due.knownAnswers.compactMap(\.pointee))
        _ = change(service) { table in
            for family in due.families.sorted() {
                table.expectAnswer(to: due.question, unless: known, in: family, at: now)
            }
        }
    }

    /// Starts to query the addresses of a host. Returns whether the question is a new one.
    mutating func want(_ host: DNSName, until: Moment, at now: Moment, jitter: inout Jitter) -> Bool {
        hosts.want(host, until: until, at: now, jitter: &jitter)
    }

    mutating func doubt(_ uid: UID, of service: DNSName, from start: Moment, until: Moment) {
        _ = change(service) { $0.doubt(uid, from: start, until: until) }
    }

    mutating func reprieve(from start: Moment, until: Moment) {
        for service in tables.keys.sorted() {
            _ = change(service) { $0.reprieve(from: start, until: until) }
        }
    }
}

extension DNSRecord {
    /// The name to which a PTR record points.
    var pointee: DNSName? {
        guard case .ptr(let name) = data else { return nil }
        return name
    }
}
