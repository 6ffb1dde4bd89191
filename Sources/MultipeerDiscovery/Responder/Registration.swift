import MultipeerCore

/// One advertisement with its names and records, and its phase on each interface. RFC 6762, 8.
///
/// ```
///                      ┌──── conflict ────┐
///   start ──▶ probing ─┴─3 × 250 ms─▶ announcing ──3 times──▶ standing
///     └──────── known unique ────────────▶┘
/// ```
struct Registration: Sendable {
    let id: AdvertID
    var advert: Advert
    private(set) var attempt = 0
    private(set) var instance: DNSName
    private(set) var pointer: DNSRecord
    private(set) var service: DNSRecord
    private(set) var text: DNSRecord
    private(set) var types: DNSRecord
    /// Earlier data of SRV and TXT: our own datagrams with them may still be looped back to us.
    private var former: [DNSData] = []
    var phases: [UInt32: Phase] = [:]
    /// Whether the owner was notified.
    var isRegistered = false

    enum Phase: Equatable, Sendable {
        case probing(Steps)
        case announcing(Steps)
        case standing
    }

    /// The number of messages of a phase already sent, and the time of the next.
    struct Steps: Equatable, Sendable {
        var sent = 0
        var next: Moment
    }

    init(_ advert: Advert, id: AdvertID, host: DNSName, hostTTL: UInt32) {
        self.id = id
        self.advert = advert
        instance = .root
        pointer = DNSRecord(.root, ttl: 0, .txt([]))
        service = pointer
        text = pointer
        types = pointer
        rebuild(host: host, hostTTL: hostTTL)
    }

    /// The records of a probe's authority section. RFC 6762, 8.2.
    var proposals: [DNSRecord] {
        [text, service].map { DNSRecord($0.name, ttl: $0.ttl, $0.data) }
    }

    func isEstablished(on scope: UInt32) -> Bool {
        switch phases[scope] {
        case .announcing, .standing: true
        case .probing, nil: false
        }
    }

    /// Whether it was announced on every interface.
    var isAnnounced: Bool {
        phases.values.allSatisfy { phase in
            switch phase {
            case .probing: false
            case .announcing(let steps): steps.sent > 0
            case .standing: true
            }
        }
    }

    /// Returns whether a record of this name is not ours: it matches neither our current nor our earlier data.
    func isContradicted(by record: DNSRecord) -> Bool {
        ![service.data, text.data, types.data].contains(record.data) && !former.contains(record.data)
    }

    /// Changes the readable part of the name; the id in it stays. [mdns.conflict]
    mutating func rename(host: DNSName, hostTTL: UInt32) {
        attempt += 1
        rebuild(host: host, hostTTL: hostTTL)
    }

    /// Rebuilds the records after the advert or the host changed. [mdns.ttl]
    mutating func rebuild(host: DNSName, hostTTL: UInt32) {
        if !instance.isRoot {
            former = (former + [service.data, text.data]).suffix(Registration.remembered)
        }
        instance = Binding.instanceName(advert.peer, advert.type, attempt: attempt)
        pointer = DNSRecord(Binding.serviceName(advert.type), ttl: Responder.otherTTL, .ptr(instance))
        service = DNSRecord(
            instance, isCacheFlush: true, ttl: hostTTL,
            .srv(priority: 0, weight: 0, port: advert.port, target: host))
        text = DNSRecord(
            instance, isCacheFlush: true, ttl: Responder.otherTTL,
            .txt(Binding.txt(advert.peer, advert.info)))
        types = DNSRecord(
            instance, isCacheFlush: true, ttl: hostTTL,
            .nsec(next: instance, types: [DNSType.txt.rawValue, DNSType.srv.rawValue]))
    }

    private static let remembered = 8
}

/// Simultaneous probing: the host with the records that sort later continues, the other waits. RFC 6762, 8.2.
/// [mdns.probe]
extension Registration {
    enum Tiebreak { case won, lost, ourselves }

    func tiebreak(against theirs: [DNSRecord]) -> Tiebreak {
        let our = Registration.sorted(proposals)
        let their = Registration.sorted(theirs)
        if our == their { return .ourselves }
        return our.lexicographicallyPrecedes(their) ? .lost : .won
    }

    private static func sorted(_ records: [DNSRecord]) -> [Rank] {
        records.map { Rank(type: $0.type.rawValue, data: $0.data.bytes) }.sorted()
    }

    private struct Rank: Comparable {
        let type: UInt16
        let data: [UInt8]

        static func < (one: Rank, other: Rank) -> Bool {
            one.type != other.type ? one.type < other.type : one.data.lexicographicallyPrecedes(other.data)
        }
    }
}
