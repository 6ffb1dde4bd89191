import MultipeerCore
import MultipeerDiscovery
import Testing

/// A responder on one interface, with a clock, and everything that it sends.
struct ResponderHarness {
    var responder: Responder
    private(set) var now = VirtualLink.origin
    private(set) var said: [Said] = []
    private(set) var told: [Responder.Action] = []
    private var lastID: UInt64 = 0

    struct Said: Equatable {
        let at: Duration
        let outgoing: OutgoingMessage

        var message: DNSMessage { outgoing.message }
        var way: OutgoingMessage.Destination { outgoing.way }
    }

    static let lan = Scope(
        id: 1, addresses: [Scope.Address([10, 0, 1, 1], prefix: 24)], families: [.v4], mtu: 1_500)

    init(
        knownUnique: Bool = true, scopes: [Scope] = [ResponderHarness.lan], hostTTL: UInt32 = 120,
        seed: UInt64 = 1
    ) {
        responder = Responder(host: 0xA1, seed: seed, hostTTL: hostTTL, knownUnique: knownUnique)
        for scope in scopes { act { $0.scopeChanged(scope, at: $1) } }
    }

    /// The time since the beginning.
    var time: Duration { now - VirtualLink.origin }

    mutating func act<Failure: Error>(
        _ body: (inout Responder, Moment) throws(Failure) -> Void
    ) throws(Failure) {
        try body(&responder, now)
        for action in responder.takeActions() {
            if case .send(let outgoing) = action {
                said.append(Said(at: time, outgoing: outgoing))
            } else {
                told.append(action)
            }
        }
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let next = responder.deadline, next <= end {
            #expect(next >= now)
            now = next
            act { $0.advance(to: $1) }
            if let again = responder.deadline { #expect(again > now, "the deadline does not advance") }
        }
        now = end
    }

    /// Starts an advertisement, and waits until all its announcements are over: nothing is pending any more.
    mutating func stand(_ advert: Advert, for duration: Duration = .seconds(10)) throws -> AdvertID {
        let id = try advertise(advert)
        run(for: duration)
        forget()
        return id
    }

    mutating func advertise(_ advert: Advert) throws -> AdvertID {
        lastID += 1
        let id = AdvertID(lastID)
        try act { responder, now throws(MulticastDNSFault) in try responder.advertise(advert, as: id, at: now)
        }
        return id
    }

    mutating func hear(
        _ message: DNSMessage, from: [UInt8] = [10, 0, 1, 99], port: UInt16 = 5353, scope: UInt32 = 1,
        family: Family = .v4
    ) {
        let arrival = PacketInfo(scope: scope, family: family, from: from, port: port)
        act { $0.receive(message, arrival, at: $1) }
    }

    mutating func forget() {
        said = []
        told = []
    }

    /// The records of multicast answers since the last `forget`.
    var multicastAnswers: [DNSRecord] {
        said.filter { $0.way == .multicast && $0.message.isResponse }.flatMap(\.message.answers)
    }
}

/// Names and messages for the tests.
enum Sample {
    static func peer(_ number: UInt64, _ name: String = "ann") throws -> PeerID {
        try PeerID(validating: UID(high: 0x00AA, low: number), displayName: name)
    }

    static func advert(
        _ number: UInt64 = 1, _ name: String = "ann", port: UInt16 = 4_000, info: [String: String] = [:]
    ) throws -> Advert {
        Advert(
            peer: try peer(number, name), type: try ServiceType(parsing: "chat"), port: port,
            info: try DiscoveryInfo(validating: info))
    }

    static let service: DNSName = "_chat._tcp.local"
    static let meta: DNSName = "_services._dns-sd._udp.local"
    static let host: DNSName = "mpc-00000000000000a1.local"

    static func instance(_ advert: Advert, attempt: Int = 0) -> DNSName {
        Binding.instanceName(advert.peer, advert.type, attempt: attempt)
    }

    static func query(_ questions: DNSQuestion..., known: [DNSRecord] = [], truncated: Bool = false)
        -> DNSMessage
    {
        var message = DNSMessage()
        message.questions = questions
        message.answers = known
        message.isTruncated = truncated
        return message
    }

    static func probe(_ name: DNSName, _ records: [DNSRecord], wantsUnicast: Bool = false) -> DNSMessage {
        var message = query(DNSQuestion(name, .any, wantsUnicast: wantsUnicast))
        message.authorities = records
        return message
    }

    static func response(_ records: DNSRecord...) -> DNSMessage {
        var message = DNSMessage()
        message.isResponse = true
        message.isAuthoritative = true
        message.answers = records
        return message
    }

    static func srv(_ name: DNSName, port: UInt16, ttl: UInt32 = 120, target: DNSName = "other.local")
        -> DNSRecord
    {
        DNSRecord(
            name, isCacheFlush: true, ttl: ttl, .srv(priority: 0, weight: 0, port: port, target: target))
    }
}
