/// One advertised service of the reference peer. Spec 12.2 and 12.6.
final class PeerResponder {
    private typealias Kind = DNSMessage.Kind

    private unowned let discovery: PeerDiscovery
    private let type: [[UInt8]]
    private let port: UInt16
    private let strings: [String]
    private let host: [[UInt8]]
    /// How often it was renamed.
    private var renamed = 0
    private var announcements: [Instant] = []
    private var probes: [Instant] = []
    /// Answers that wait.
    private var waiting: [(due: Instant, records: [DNSMessage.Record])] = []

    init(_ discovery: PeerDiscovery, _ type: String, _ port: UInt16, _ info: [String: String]) {
        self.discovery = discovery
        self.type = ServiceNames.type(type)
        self.port = port
        let session = discovery.session
        let name = "n=" + String(decoding: session.name, as: UTF8.self)
        let first = session.bug == .textOutOfOrder ? [name, "mpc=1"] : ["mpc=1", name]
        strings = first + info.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let number = session.bug == .keepsHost ? [UInt8](repeating: 7, count: 8) : session.peer.randomBytes(8)
        host = .labels("mpc-\(number.hex).local")
        if session.bug == .probesFirst {
            probes = [.now, .now + .milliseconds(250), .now + .milliseconds(500)]
        }
        announce()
    }

    private var bug: Bug? { discovery.bug }

    private var instance: [[UInt8]] {
        let session = discovery.session
        if bug == .labelWithoutUID { return [session.name] + type }
        let mark = renamed == 0 ? "" : " (\(renamed + 1))"
        return [ServiceNames.label(session.name, session.endpoint.uid, mark: mark)] + type
    }

    var records: [DNSMessage.Record] {
        let short: UInt32 = bug == .ttlOfAnHour ? 3_600 : 120
        let long: UInt32 = bug == .ttlOfAnHour ? 3_600 : 4_500
        return [
            .pointer(type, to: instance, ttl: long), .service(instance, at: host, port: port, ttl: short),
            .text(instance, strings, ttl: long), .address(host, [127, 0, 0, 1], ttl: short),
        ]
    }

    /// Announces at 0, 1 and 3 s from now.
    func announce() {
        let start = probes.last.map { $0 + .milliseconds(250) } ?? .now
        let delays = bug == .announcesOnce ? [0] : bug == .announcesOften ? Array(0...9) : [0, 1, 3]
        announcements = delays.map { start + .seconds($0) }
    }

    func tick(_ now: Instant) {
        for probe in probes where probe <= now {
            var message = DNSMessage.asking(instance, Kind.any)
            message.authorities = Array(records[1...2])
            discovery.send(message)
            if probe == probes.last, announcements.isEmpty { announce() }
        }
        probes.removeAll { $0 <= now }
        if announcements.contains(where: { $0 <= now }) { multicast(records) }
        announcements.removeAll { $0 <= now }
        for answer in waiting where answer.due <= now && !answer.records.isEmpty { multicast(answer.records) }
        waiting.removeAll { $0.due <= now }
    }

    private func multicast(_ records: [DNSMessage.Record]) {
        var message = DNSMessage(flags: DNSMessage.response)
        message.answers = records
        discovery.send(message)
    }

    // MARK: Queries

    func answer(_ query: DNSMessage, _ port: UInt16) {
        let asked = query.questions.filter { [1, 255].contains($0.kind & 0x7fff) || bug == .dnsAnyClass }
        var answers = asked.flatMap { self.answers(to: $0) }
        if bug != .ignoresKnownAnswers {
            answers.removeAll { answer in
                query.answers.contains { $0.isSame(as: answer) && $0.ttl >= answer.ttl / 2 }
            }
        }
        guard !answers.isEmpty else { return }
        if port != 5_353 { return answer(query, answers, by: port) }
        let isUnique = answers.allSatisfy { $0.type != Kind.ptr }
        let isMore = query.flags & DNSMessage.truncated != 0
        if isUnique || bug == .answersAtOnce { return multicast(answers) }
        let delay = isMore ? Int.random(in: 400...500) : Int.random(in: 20...120)
        waiting.append((.now + .milliseconds(delay), answers))
    }

    /// Answers a simple resolver by unicast. RFC 6762, 6.7.
    private func answer(_ query: DNSMessage, _ answers: [DNSMessage.Record], by port: UInt16) {
        var message = DNSMessage(id: query.id, flags: DNSMessage.response, questions: query.questions)
        message.answers = answers.map { record in
            var record = record
            (record.ttl, record.isFlush) = (min(record.ttl, 10), false)
            return record
        }
        if bug == .legacyAsUsual {
            message = DNSMessage(flags: DNSMessage.response)
            message.answers = answers
        }
        discovery.send(message, to: port)
    }

    private func answers(to question: DNSMessage.Question) -> [DNSMessage.Record] {
        let isSameName: (DNSMessage.Record) -> Bool = { [bug] record in
            bug == .namesByCase ? record.name == question.name : record.name.folded == question.name.folded
        }
        let ofName = records.filter(isSameName)
        let found = ofName.filter { question.type == Kind.any || $0.type == question.type }
        guard found.isEmpty, let one = ofName.first, one.type != Kind.ptr, bug != .neverDenies else {
            return found
        }
        return [denial(one.name, ofName.map(\.type))]
    }

    /// Says which types a name has. RFC 6762, 6.1.
    private func denial(_ name: [[UInt8]], _ types: [UInt16]) -> DNSMessage.Record {
        var bits = [UInt8](repeating: 0, count: Int(types.max() ?? 0) / 8 + 1)
        for type in types { bits[Int(type) / 8] |= 0x80 >> UInt8(type % 8) }
        let data = name.wire + [0, UInt8(bits.count)] + bits
        return .init(name: name, type: Kind.nsec, isFlush: true, ttl: 120, data: data)
    }

    // MARK: Responses

    func hear(_ response: DNSMessage) {
        let own = records
        let isContested = response.records.contains { record in
            record.ttl > 0 && [Kind.srv, Kind.txt].contains(record.type)
                && record.name.folded == instance.folded && !own.contains { $0.isSame(as: record) }
        }
        guard isContested, bug != .ignoresConflicts else { return }
        if probes.isEmpty {
            announcements = []
            probes = [0, 250, 500].map { .now + .milliseconds($0) }
        } else if bug != .neverRenames {
            renamed += 1
            probes = []
            announce()
        }
    }
}
