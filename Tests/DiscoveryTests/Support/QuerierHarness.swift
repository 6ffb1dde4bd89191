import MultipeerCore
import MultipeerDiscovery
import Testing

/// A querier with a clock of its own, and a record of its actions and their times.
struct QuerierHarness {
    var querier: Querier
    private(set) var now = Moment(nanoseconds: 1_000_000_000)
    private(set) var sent: [Sent] = []
    private(set) var events: [Event] = []
    /// The number of the querier's reports of a peer.
    private(set) var reports = 0
    private var readings: [BrowseID: BrowseReader] = [:]
    /// The missed peers that have answered.
    private(set) var returns: [(at: Moment, browse: BrowseID, uid: UID)] = []
    private(set) var resolutions: [ResolveID: (at: Moment, candidates: [Candidate])] = [:]

    struct Sent {
        let at: Moment
        let outgoing: OutgoingMessage

        var message: DNSMessage { outgoing.message }
    }

    struct Event: Equatable {
        let at: Moment
        let browse: BrowseID
        let event: DiscoveredPeer.Event
    }

    init(seed: UInt64 = 1, scopes: [Scope] = [.one]) {
        querier = Querier(seed: seed)
        for scope in scopes { querier.scopeChanged(scope, at: now) }
    }

    mutating func `do`(_ work: (inout Querier, Moment) -> Void) {
        work(&querier, now)
        collect()
    }

    mutating func browse(_ type: ServiceType, hiding uid: UID? = nil, as id: UInt64 = 1) {
        self.do { $0.browse(type, hiding: uid, as: BrowseID(id), at: $1) }
    }

    /// Lets time pass. Every deadline has to be later than the one before.
    mutating func pass(_ time: Duration) {
        let end = now + time
        while let deadline = querier.deadline, deadline <= end {
            now = max(now, deadline)
            querier.advance(to: now)
            collect()
            guard let next = querier.deadline, next <= now else { continue }
            Issue.record("the deadline does not advance: \(next) at \(now)")
            return
        }
        now = end
    }

    /// Lets time pass as in a long sleep: nothing is done meanwhile.
    mutating func sleep(_ time: Duration) { now = now + time }

    mutating func hear(
        _ records: [DNSRecord], on scope: UInt32 = 1, _ family: Family = .v4,
        from source: [UInt8] = [10, 0, 0, 9]
    ) {
        var message = DNSMessage()
        message.isResponse = true
        message.answers = records
        receive(message, PacketInfo(scope: scope, family: family, from: source, port: 5353))
    }

    /// Delivers an answer to the last question from a port of its own.
    mutating func hearOneShot(_ records: [DNSRecord], id: UInt16? = nil) {
        var message = DNSMessage()
        message.isResponse = true
        message.id = id ?? sent.last { $0.outgoing.way == .ask }?.message.id ?? 0
        message.answers = records
        receive(
            message, PacketInfo(scope: 1, family: .v4, from: [10, 0, 0, 9], port: 5353, isOneShot: true))
    }

    /// Delivers another querier's question.
    mutating func overhear(
        _ questions: [DNSQuestion], knowing known: [DNSRecord] = [], isTruncated: Bool = false,
        on scope: UInt32 = 1,
        _ family: Family = .v4, port: UInt16 = 5353
    ) {
        var message = DNSMessage()
        message.questions = questions
        message.answers = known
        message.isTruncated = isTruncated
        receive(message, PacketInfo(scope: scope, family: family, from: [10, 0, 0, 7], port: port))
    }

    mutating func receive(_ message: DNSMessage, _ arrival: PacketInfo) {
        self.do { $0.receive(message, arrival, at: $1) }
    }

    private mutating func collect() {
        for action in querier.takeActions() {
            switch action {
            case .send(let outgoing): sent.append(Sent(at: now, outgoing: outgoing))
            case .browse(let id, let uid, let peer):
                reports += 1
                for event in readings[id, default: BrowseReader()].note(uid, peer) {
                    events.append(Event(at: now, browse: id, event: event))
                }
            case .returned(let id, let uid): returns.append((at: now, browse: id, uid: uid))
            case .resolved(let id, let resolution):
                #expect(resolutions[id] == nil, "resolved twice")
                resolutions[id] = (now, resolution.candidates)
            }
        }
    }

    /// Returns the questions from port 5353, and their times.
    func asked(_ type: DNSType, of name: DNSName? = nil, on scope: UInt32 = 1, _ family: Family = .v4)
        -> [Moment]
    {
        sent.filter { entry in
            entry.outgoing.way == .multicast && entry.outgoing.scope == scope
                && entry.outgoing.family == family
                && entry.message.questions.contains { $0.type == type && (name == nil || $0.name == name) }
        }.map(\.at)
    }

    var oneShots: [Sent] { sent.filter { $0.outgoing.way == .ask } }

    func events(of browse: UInt64 = 1) -> [DiscoveredPeer.Event] {
        events.filter { $0.browse == BrowseID(browse) }.map(\.event)
    }

    mutating func forgetWhatWasSent() { sent = [] }
}

extension Scope {
    static let one = Scope(
        id: 1, addresses: [Address([10, 0, 0, 1], prefix: 24)], families: [.v4], mtu: 1_500)
    static let two = Scope(
        id: 2, addresses: [Address([10, 0, 1, 1], prefix: 24)], families: [.v4, .v6], mtu: 1_500)
    static let loopback = Scope(
        id: 3, isLoopback: true, addresses: [Address([127, 0, 0, 1], prefix: 8)], families: [.v4], mtu: 65_536
    )
}

/// A peer that advertises, as others receive it.
struct Advertised {
    var peer: PeerID
    var type: ServiceType
    var port: UInt16 = 4_000
    var host: DNSName
    var info: [String: String] = [:]
    var attempt = 0
    var addresses: [[UInt8]] = [[10, 0, 0, 9]]
    var serverTTL: UInt32 = 120

    /// `isKeyed`: the uid is the hash of a key.
    init(_ name: String, _ number: UInt64, _ type: ServiceType = .chat, isKeyed: Bool = false) throws {
        let uid = isKeyed ? UID(high: 0xA_11CE_8000, low: 1 << 63 | number) : UID(high: 0xA11CE, low: number)
        peer = try PeerID(validating: uid, displayName: name)
        self.type = type
        host = try #require(DNSName("mpc-\(number).local"))
    }

    var service: DNSName { Binding.serviceName(type) }
    var instance: DNSName { Binding.instanceName(peer, type, attempt: attempt) }

    func pointer(ttl: UInt32 = 4_500) -> DNSRecord { DNSRecord(service, ttl: ttl, .ptr(instance)) }
    func server(ttl: UInt32? = nil) -> DNSRecord {
        DNSRecord(
            instance, isCacheFlush: true, ttl: ttl ?? serverTTL,
            .srv(priority: 0, weight: 0, port: port, target: host))
    }
    func text(ttl: UInt32 = 4_500) throws -> DNSRecord {
        DNSRecord(
            instance, isCacheFlush: true, ttl: ttl,
            .txt(Binding.txt(peer, try DiscoveryInfo(validating: info))))
    }
    var places: [DNSRecord] {
        addresses.map { DNSRecord(host, isCacheFlush: true, ttl: 120, $0.count == 4 ? .a($0) : .aaaa($0)) }
    }
    func all() throws -> [DNSRecord] { [pointer(), server(), try text()] + places }
    func goodbye() throws -> [DNSRecord] { [pointer(ttl: 0), server(ttl: 0), try text(ttl: 0)] }
    /// Returns the records for a conventional resolver: with short TTLs, and without the cache-flush bit.
    func legacy() throws -> [DNSRecord] {
        try all().map { DNSRecord($0.name, ttl: 10, $0.data) }
    }

    var found: DiscoveredPeer.Event { .found(DiscoveredPeer(peer: peer, info: info)) }
    var updated: DiscoveredPeer.Event { .updated(DiscoveredPeer(peer: peer, info: info)) }
    var lost: DiscoveredPeer.Event { .lost(peer) }
}

extension ServiceType {
    static let chat = named("chat")
    static let game = named("game")

    private static func named(_ name: String) -> ServiceType {
        do {
            return try ServiceType(parsing: name)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension Moment {
    static func - (moment: Moment, duration: Duration) -> Moment { moment + (.zero - duration) }
}
