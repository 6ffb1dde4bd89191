import MultipeerCore

/// What is known on one scope: of the service types that somebody looks for, and nothing else. RFC 6762, 10; Spec 12.6.
///
/// What nobody asked about is forgotten at once, so most of what a flood brings takes no place at all.
struct Cache: Sendable {
    static let most = 1_024  // [mdns.limit]
    /// Addresses that nobody waits for may not take all the places.
    private static let mostWithAddresses = 896
    static let mostBytes = 1 << 20

    var scope: Scope
    private(set) var tables: [DNSName: InstanceTable] = [:]
    private(set) var hosts = HostTable()
    /// The questions from ports of their own that may still be answered.
    private var oneShots: [UInt16: Moment] = [:]

    init(_ scope: Scope) { self.scope = scope }

    var count: Int { tables.values.reduce(hosts.count) { $0 + $1.count } }
    var byteCount: Int { tables.values.reduce(hosts.byteCount) { $0 + $1.byteCount } }
    var deadline: Moment { tables.values.reduce(hosts.deadline) { min($0, $1.deadline) } }

    /// Works on one table, and on the hosts as that changes where SRV records point.
    private mutating func change<R>(_ service: DNSName, _ body: (inout InstanceTable) -> R) -> R? {
        guard var table = tables.removeValue(forKey: service) else { return nil }
        let result = body(&table)
        hosts.apply(table.takeTargetChanges())
        tables[service] = table
        return result
    }

    /// Those who look different from outside since the last call.
    mutating func takeChanged() -> [(service: DNSName, uids: Set<UID>)] {
        var all: [(service: DNSName, uids: Set<UID>)] = []
        for service in tables.keys.sorted() {
            guard let uids = change(service, { $0.takeChanged() }), !uids.isEmpty else { continue }
            all.append((service, uids))
        }
        return all
    }
}

/// What is looked for.
extension Cache {
    /// Begins to ask for the instances of a type, or begins again.
    mutating func ask(for service: DNSName, at due: Moment) {
        if tables[service] == nil {
            tables[service] = InstanceTable(service, asking: QuerySchedule(due: due))
        } else {
            _ = change(service) { $0.restart(at: due) }
        }
    }

    mutating func dropAll(of service: DNSName) { _ = change(service) { $0.dropAll() } }

    mutating func stopAsking(for service: DNSName) {
        _ = change(service) { $0.dropAll() }
        tables[service] = nil
    }

    /// The message of a question from a port of its own. RFC 6762, 5.1.
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

    /// Whether an answer to a port of ours answers something that was asked from there. [mdns.one-shot]
    func isExpected(_ message: DNSMessage, at now: Moment) -> Bool {
        oneShots[message.id].map { $0 > now } ?? false
    }
}

/// What is heard.
extension Cache {
    /// Records in the order of who needs whom: instances, then what they are, then where.
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

    /// Addresses give way to instances: they can be asked for when they are needed.
    private mutating func makeRoom(_ records: Int) -> Bool {
        while count + records > Cache.most {
            guard hosts.giveWay() else { return false }
        }
        return true
    }

    /// A type with few instances gets room from the one with most. [mdns.limit]
    private mutating func giveWay(to service: DNSName) -> Bool {
        let own = tables[service]?.serviceInstances.count ?? 0
        let others = tables.filter { $0.key != service && $0.value.serviceInstances.count > own + 1 }
        let largest = others.max { one, other in
            (one.value.serviceInstances.count, one.key) < (other.value.serviceInstances.count, other.key)
        }
        return largest.flatMap { change($0.key) { $0.giveWay() } } ?? false
    }

    /// Another's question: what it would be told, and what need not be asked again.
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

/// Time, and what it asks for.
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

    /// Our own question is one more that everybody should hear the answer to. RFC 6762, 10.5.
    mutating func asked(_ due: DueQuestion, at now: Moment) {
        guard let service = service(of: due.question) else { return }
        let known = Set(due.knownAnswers.compactMap(\.pointee))
        _ = change(service) { table in
            for family in due.families.sorted() {
                table.expectAnswer(to: due.question, unless: known, in: family, at: now)
            }
        }
    }

    /// Starts asking for the addresses of a host. Returns whether the question is a new one.
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
    /// Whom a PTR record points to.
    var pointee: DNSName? {
        guard case .ptr(let name) = data else { return nil }
        return name
    }
}
