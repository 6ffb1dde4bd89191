import MultipeerCore

/// The engine's own records: its registrations, the owner of each of its names, and their records. Independent of time and
/// packets. RFC 6762, 2; Spec 12.2.
///
/// A name has an owner exactly while a registration needs it: the names of the instance, the service type and the host, and the
/// name under which service types are enumerated.
struct LocalRecords: Sendable {
    private(set) var registrations: [AdvertID: Registration] = [:]
    private(set) var host: DNSName
    private(set) var owners: [DNSName: Owner] = [:]
    let hostTTL: UInt32

    /// The owner of a name.
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

    /// Returns the host name, never the machine's name: that is private, and another stack on this machine may own it.
    /// [mdns.host]
    private static func hostName(_ number: UInt64) -> DNSName {
        let digits = Array("0123456789abcdef".utf8)
        let hex = (0..<16).map { digits[Int(truncatingIfNeeded: number >> UInt64(60 - 4 * $0) & 15)] }
        let local: DNSName = "local"
        return (try? local.child(Array("mpc-".utf8) + hex)) ?? local
    }

    subscript(id: AdvertID) -> Registration? { registrations[id] }

    /// The registrations in the order of iteration.
    var ids: [AdvertID] { registrations.keys.sorted() }

    var isEmpty: Bool { registrations.isEmpty }

    func contains(_ peer: PeerID, _ type: ServiceType) -> Bool {
        registrations.values.contains { $0.advert.peer == peer && $0.advert.type == type }
    }

    /// Whether the peer is announced under the name of a service type.
    func contains(_ uid: UID, in service: DNSName) -> Bool {
        registrations.values.contains {
            $0.advert.peer.uid == uid && Binding.serviceName($0.advert.type) == service
        }
    }
}

/// Names.
extension LocalRecords {
    mutating func add(_ advert: Advert, as id: AdvertID) {
        let registration = Registration(advert, id: id, host: host, hostTTL: hostTTL)
        registrations[id] = registration
        own(registration)
    }

    mutating func update(_ id: AdvertID, info: DiscoveryInfo, port: UInt16) {
        registrations[id]?.advert.info = info
        registrations[id]?.advert.port = port
        registrations[id]?.rebuild(host: host, hostTTL: hostTTL)
    }

    mutating func remove(_ id: AdvertID) {
        guard let registration = registrations.removeValue(forKey: id) else { return }
        disown(registration)
        if registrations.isEmpty { owners = [:] }
    }

    /// Renames a registration whose name another host has.
    mutating func rename(_ id: AdvertID) {
        guard var registration = registrations[id] else { return }
        disown(registration)
        registration.rename(host: host, hostTTL: hostTTL)
        registrations[id] = registration
        own(registration)
    }

    /// Renames the host after a conflict.
    mutating func renameHost(_ number: UInt64) {
        owners[host] = nil
        host = LocalRecords.hostName(number)
        owners[host] = .host
        for id in registrations.keys { registrations[id]?.rebuild(host: host, hostTTL: hostTTL) }
    }

    private mutating func own(_ registration: Registration) {
        owners[LocalRecords.meta] = .meta
        owners[host] = .host
        owners[registration.instance] = .instance(registration.id)
        var ids = [registration.id]
        if case .service(let others) = owners[registration.pointer.name] { ids = others + ids }
        owners[registration.pointer.name] = .service(ids)
    }

    private mutating func disown(_ registration: Registration) {
        owners[registration.instance] = nil
        if case .service(let ids) = owners[registration.pointer.name] {
            let left = ids.filter { $0 != registration.id }
            owners[registration.pointer.name] = left.isEmpty ? nil : .service(left)
        }
    }
}

/// Phases.
extension LocalRecords {
    /// Sets the phase of a registration on an interface; nil when the interface is gone.
    mutating func set(_ phase: Registration.Phase?, of id: AdvertID, on scope: UInt32) {
        registrations[id]?.phases[scope] = phase
    }

    /// Returns whether the owner of the advertisement is now to be notified that it is registered everywhere.
    mutating func becomesRegistered(_ id: AdvertID) -> Bool {
        guard let registration = registrations[id], !registration.isRegistered, registration.isAnnounced
        else { return false }
        registrations[id]?.isRegistered = true
        return true
    }

    /// Returns whether the host was announced on that interface.
    func isHostKnown(on scope: UInt32) -> Bool {
        registrations.values.contains { $0.isEstablished(on: scope) }
    }

    /// Returns whether the entry may be sent on that interface now: its name is ours.
    func isTrue(_ entry: LocalRecordSet, on scope: UInt32) -> Bool {
        switch entry {
        case .pointer(let id), .service(let id), .text(let id), .types(let id):
            registrations[id]?.isEstablished(on: scope) == true
        case .kind(let service): owners[service] != nil
        case .addresses, .families: !registrations.isEmpty
        }
    }

    /// Returns whether a record conflicts with the registration: during probing any record of the name does, later only SRV and
    /// TXT. A goodbye never conflicts.
    func isContradicted(_ id: AdvertID, by record: DNSRecord, on scope: UInt32) -> Bool {
        guard let registration = registrations[id], record.ttl > 0, registration.isContradicted(by: record)
        else { return false }
        return !registration.isEstablished(on: scope) || record.type == .srv || record.type == .txt
    }
}
