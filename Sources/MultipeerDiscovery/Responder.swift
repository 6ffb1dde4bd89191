package import MultipeerCore

/// What is said of the local peers: advertisements that are claimed, announced, defended, answered for and taken back.
/// RFC 6762, 6 to 10; Spec 12.6.
///
/// Pure, as `MulticastDNS` is. Per packet it looks up the names of the packet, never all of its own.
package struct Responder: Sendable {
    package enum Action: Equatable, Sendable {
        case send(Outgoing)
        /// It stands on every interface there is.
        case registered(AdvertID)
        /// Another has the name; it is claimed under a new one.
        case renamed(AdvertID)
    }

    var claims: [AdvertID: Claim] = [:]
    var owners: [DNSName: Owner] = [:]
    var stations: [UInt32: Station] = [:]
    var farewells: [Farewell] = []
    var conflicts = Conflicts()
    var dice: Jitter
    var actions: [Action] = []
    /// No claim or station has a step sooner.
    var nextStep: Moment?
    private(set) var host: DNSName
    /// Addresses that were ours: such a datagram may still be on its way back to us.
    var formerAddresses: [[UInt8]] = []
    let hostTTL: UInt32
    let knownUnique: Bool

    /// Whose a name is.
    enum Owner: Sendable {
        case meta
        /// The service type of these advertisements.
        case service([AdvertID])
        case instance(AdvertID)
        case host
    }

    /// One interface.
    struct Station: Sendable {
        var scope: Scope
        var voices: [Family: Voice] = [:]
        /// The host's addresses are being announced.
        var announcing: Claim.Steps?
    }

    /// Seconds for which PTR and TXT are kept. RFC 6762, 10.
    static let otherTTL: UInt32 = 4_500
    static let meta: DNSName = "_services._dns-sd._udp.local"

    package init(host: UInt64, seed: UInt64, hostTTL: UInt32, knownUnique: Bool) {
        dice = Jitter(seed: seed)
        self.host = Responder.hostName(host)
        self.hostTTL = min(max(hostTTL, 10), 120)
        self.knownUnique = knownUnique
    }

    /// Never the machine's name: that is private, and another stack on this machine may own it. [mdns.host]
    private static func hostName(_ number: UInt64) -> DNSName {
        let digits = Array("0123456789abcdef".utf8)
        let hex = (0..<16).map { digits[Int(truncatingIfNeeded: number >> UInt64(60 - 4 * $0) & 15)] }
        let local: DNSName = "local"
        return (try? local.child(Array("mpc-".utf8) + hex)) ?? local
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Nothing more is to be said of what was taken back.
    package var isQuiet: Bool { farewells.isEmpty && claims.isEmpty && actions.isEmpty }

    package var deadline: Moment? {
        var soonest = nextStep ?? .distantFuture
        for farewell in farewells { soonest = min(soonest, farewell.next ?? .distantFuture) }
        for station in stations.values {
            for voice in station.voices.values { soonest = min(soonest, voice.deadline ?? .distantFuture) }
        }
        return soonest == .distantFuture ? nil : soonest
    }
}

/// Orders.
extension Responder {
    package mutating func advertise(
        _ advert: Advert, as id: AdvertID, at now: Moment
    ) throws(EngineFault) {
        let isThere = claims.values.contains {
            $0.advert.peer == advert.peer && $0.advert.type == advert.type
        }
        if isThere { throw .advertisedAlready }
        let claim = Claim(advert, id: id, host: host, hostTTL: hostTTL)
        claims[id] = claim
        own(claim)
        for scope in stations.keys.sorted() { start(id, on: scope, at: now) }
        advance(to: now)
        tellIfRegistered(id)
    }

    package mutating func update(_ id: AdvertID, info: DiscoveryInfo, at now: Moment) {
        guard var claim = claims[id], claim.advert.info != info else { return }
        claim.advert.info = info
        claim.rebuild(host: host, hostTTL: hostTTL)
        for scope in claim.phases.keys where claim.isEstablished(on: scope) {
            let again = stations[scope]?.voices.values.compactMap { $0.nextTime(for: .text(id)) }.max()
            claim.phases[scope] = .announcing(Claim.Steps(next: max(now, again ?? now)))  // [mdns.announce]
        }
        claims[id] = claim
        nextStep = now
        advance(to: now)
    }

    package mutating func withdraw(_ id: AdvertID, at now: Moment) {
        guard let claim = claims[id] else { return }
        for scope in stations.keys.sorted() where claim.isEstablished(on: scope) {
            let host = claims.count == 1 ? addressRecords(on: scope) : []
            sayGoodbye([claim.pointer, claim.service, claim.text] + host, on: scope, at: now)
        }
        disown(claim)
        claims[id] = nil
        if claims.isEmpty { owners = [:] }
        advance(to: now)
    }

    /// Nobody may know us any more, and others may have our names. RFC 6762, 8. [mdns.wake]
    package mutating func woke(at now: Moment) {
        for scope in stations.keys {
            for family in Family.allCases { stations[scope]?.voices[family]?.silence() }
        }
        for id in claims.keys.sorted() {
            for scope in stations.keys.sorted() { start(id, on: scope, at: now) }
        }
        advance(to: now)
    }
}

/// Names.
extension Responder {
    mutating func own(_ claim: Claim) {
        owners[Responder.meta] = .meta
        owners[host] = .host
        owners[claim.instance] = .instance(claim.id)
        var ids = [claim.id]
        if case .service(let others) = owners[claim.pointer.name] { ids = others + ids }
        owners[claim.pointer.name] = .service(ids)
        cancelFarewells()
    }

    /// What is true again is taken back no more.
    mutating func cancelFarewells() {
        for index in farewells.indices {
            guard let scope = stations[farewells[index].scope]?.scope else { continue }
            let records = farewells[index].records.filter { record in
                if case .instance = owners[record.name] { return true }
                return entry(saying: record, on: scope) != nil
            }
            farewells[index].cancel(records)
        }
        farewells.removeAll { $0.next == nil }
    }

    mutating func disown(_ claim: Claim) {
        owners[claim.instance] = nil
        if case .service(let ids) = owners[claim.pointer.name] {
            let left = ids.filter { $0 != claim.id }
            owners[claim.pointer.name] = left.isEmpty ? nil : .service(left)
        }
        for scope in stations.keys {
            for family in Family.allCases { stations[scope]?.voices[family]?.drop(claim.id) }
        }
    }

    /// Somebody else has our host name, which is nobody's by accident: ours becomes another. [mdns.host]
    mutating func renameHost(at now: Moment) {
        owners[host] = nil
        host = Responder.hostName(dice.next())
        owners[host] = .host
        for id in claims.keys.sorted() {
            claims[id]?.rebuild(host: host, hostTTL: hostTTL)
            for scope in stations.keys.sorted() where claims[id]?.isEstablished(on: scope) == true {
                set(.announcing(Claim.Steps(next: now)), of: id, on: scope)
            }
        }
        for scope in stations.keys {
            for family in Family.allCases { stations[scope]?.voices[family]?.forgetHost() }
        }
    }

    mutating func sayGoodbye(_ records: [DNSRecord], on scope: UInt32, at now: Moment) {
        guard !records.isEmpty else { return }
        farewells.append(Farewell(scope: scope, records, at: now))
    }
}
