import MultipeerCore

/// What this engine has to say of itself: its claims, whose each of its names is, and the records behind them. Of time and
/// packets it knows nothing. RFC 6762, 2; Spec 12.2.
///
/// A name has an owner exactly while a claim needs it: the instance's, the service type's, the host's, and the name under
/// which service types are listed.
struct LocalRecords: Sendable {
    private(set) var claims: [AdvertID: Claim] = [:]
    private(set) var host: DNSName
    private(set) var owners: [DNSName: Owner] = [:]
    let hostTTL: UInt32

    /// Whose a name is.
    enum Owner: Sendable {
        case meta
        /// The service type of these advertisements.
        case service([AdvertID])
        case instance(AdvertID)
        case host
    }

    static let meta: DNSName = "_services._dns-sd._udp.local"

    init(host: UInt64, hostTTL: UInt32) {
        self.host = LocalRecords.hostName(host)
        self.hostTTL = hostTTL
    }

    /// Never the machine's name: that is private, and another stack on this machine may own it. [mdns.host]
    private static func hostName(_ number: UInt64) -> DNSName {
        let digits = Array("0123456789abcdef".utf8)
        let hex = (0..<16).map { digits[Int(truncatingIfNeeded: number >> UInt64(60 - 4 * $0) & 15)] }
        let local: DNSName = "local"
        return (try? local.child(Array("mpc-".utf8) + hex)) ?? local
    }

    subscript(id: AdvertID) -> Claim? { claims[id] }

    /// The claims in the order in which they are gone through.
    var ids: [AdvertID] { claims.keys.sorted() }

    var isEmpty: Bool { claims.isEmpty }

    func contains(_ peer: PeerID, _ type: ServiceType) -> Bool {
        claims.values.contains { $0.advert.peer == peer && $0.advert.type == type }
    }
}

/// Names.
extension LocalRecords {
    mutating func add(_ advert: Advert, as id: AdvertID) {
        let claim = Claim(advert, id: id, host: host, hostTTL: hostTTL)
        claims[id] = claim
        own(claim)
    }

    mutating func update(_ id: AdvertID, info: DiscoveryInfo) {
        claims[id]?.advert.info = info
        claims[id]?.rebuild(host: host, hostTTL: hostTTL)
    }

    mutating func remove(_ id: AdvertID) {
        guard let claim = claims.removeValue(forKey: id) else { return }
        disown(claim)
        if claims.isEmpty { owners = [:] }
    }

    /// Another has the claim's name.
    mutating func rename(_ id: AdvertID) {
        guard var claim = claims[id] else { return }
        disown(claim)
        claim.rename(host: host, hostTTL: hostTTL)
        claims[id] = claim
        own(claim)
    }

    /// Another has the host's name.
    mutating func renameHost(_ number: UInt64) {
        owners[host] = nil
        host = LocalRecords.hostName(number)
        owners[host] = .host
        for id in claims.keys { claims[id]?.rebuild(host: host, hostTTL: hostTTL) }
    }

    private mutating func own(_ claim: Claim) {
        owners[LocalRecords.meta] = .meta
        owners[host] = .host
        owners[claim.instance] = .instance(claim.id)
        var ids = [claim.id]
        if case .service(let others) = owners[claim.pointer.name] { ids = others + ids }
        owners[claim.pointer.name] = .service(ids)
    }

    private mutating func disown(_ claim: Claim) {
        owners[claim.instance] = nil
        if case .service(let ids) = owners[claim.pointer.name] {
            let left = ids.filter { $0 != claim.id }
            owners[claim.pointer.name] = left.isEmpty ? nil : .service(left)
        }
    }
}

/// How far they are.
extension LocalRecords {
    /// Nil when the interface is gone.
    mutating func set(_ phase: Claim.Phase?, of id: AdvertID, on scope: UInt32) {
        claims[id]?.phases[scope] = phase
    }

    /// Answers whether this is when the owner of the advertisement is to be told that it stands everywhere.
    mutating func becomesRegistered(_ id: AdvertID) -> Bool {
        guard let claim = claims[id], !claim.isRegistered, claim.isAnnounced else { return false }
        claims[id]?.isRegistered = true
        return true
    }

    /// Whether anybody was told of the host on that interface.
    func isHostKnown(on scope: UInt32) -> Bool { claims.values.contains { $0.isEstablished(on: scope) } }

    /// Whether the entry may be said on that interface now: its name is ours.
    func isTrue(_ entry: Entry, on scope: UInt32) -> Bool {
        switch entry {
        case .pointer(let id), .service(let id), .text(let id), .types(let id):
            claims[id]?.isEstablished(on: scope) == true
        case .kind(let service): owners[service] != nil
        case .addresses, .families: !claims.isEmpty
        }
    }

    /// While we probe, any record of the name is somebody else's claim; later only SRV and TXT. A goodbye claims nothing.
    func isContradicted(_ id: AdvertID, by record: DNSRecord, on scope: UInt32) -> Bool {
        guard let claim = claims[id], record.ttl > 0, claim.isContradicted(by: record) else { return false }
        return !claim.isEstablished(on: scope) || record.type == .srv || record.type == .txt
    }
}
