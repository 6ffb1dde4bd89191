package import MultipeerCore

/// One service type that is browsed.
struct ServiceSubscription: Sendable {
    /// The browsers, each with the peer that is not reported to it.
    var browsers: [BrowseID: UID?] = [:]
    var resolves: Set<ResolveID> = []

    var isUnused: Bool { browsers.isEmpty && resolves.isEmpty }
}

extension Querier {
    /// Starts a browse. `hiding` is never reported to this browser. Peers already known are reported at once.
    package mutating func browse(_ type: ServiceType, hiding: UID?, as id: BrowseID, at now: Moment) {
        let service = use(type, at: now)
        services[service]?.browsers[id] = .some(hiding)
        let known = Set(caches.values.compactMap { $0.tables[service]?.uids }.joined())
        for uid in known.sorted() where uid != hiding {
            if let peer = current(uid, of: service) { emit(.browse(id, uid, peer)) }
        }
    }

    package mutating func stopBrowsing(_ id: BrowseID, at now: Moment) {
        for service in services.keys.sorted() {
            guard services[service]?.browsers.removeValue(forKey: id) != nil else { continue }
            dropIfUnused(service)
        }
    }

    /// Checks a peer that does not respond: at least two questions are asked, and without an answer it is lost in ten
    /// seconds. RFC 6762, 10.4.
    package mutating func reconfirm(_ uid: UID, of type: ServiceType, at now: Moment) {
        let service = Binding.serviceName(type)
        let start = now + jitter.hesitation()
        for scope in caches.keys.sorted() {  // [mdns.reconfirm]
            caches[scope]?.doubt(uid, of: service, from: start, until: now + CachedRecord.reconfirmTimeout)
        }
    }

    /// Starts to query a type and returns its name. A later browse asks again, since announcements may have been
    /// missed.
    mutating func use(_ type: ServiceType, at now: Moment) -> DNSName {
        let service = Binding.serviceName(type)
        let isNew = services[service] == nil
        if isNew { services[service] = ServiceSubscription() }
        for scope in caches.keys.sorted() where isNew || askingGap(for: service, on: scope) > Querier.staleGap
        {
            ask(for: service, on: scope, at: now)
        }
        return service
    }

    private static let staleGap = Duration.seconds(60)

    mutating func dropIfUnused(_ service: DNSName) {
        guard services[service]?.isUnused == true else { return }
        services[service] = nil
        for scope in caches.keys.sorted() { caches[scope]?.stopAsking(for: service) }
    }
}

/// Reported peers.
extension Querier {
    /// Reports every peer whose appearance has changed.
    mutating func review(on scope: UInt32) {
        for (service, uids) in caches[scope]?.takeChanged() ?? [] { review(uids, of: service) }
    }

    mutating func review(_ uids: Set<UID>, of service: DNSName) {
        let browsers = (services[service]?.browsers ?? [:]).sorted { $0.key < $1.key }
        if browsers.isEmpty { return }
        for uid in uids.sorted() {
            let peer = current(uid, of: service)
            for (id, hidden) in browsers where hidden != uid { emit(.browse(id, uid, peer)) }  // [mdns.self]
        }
    }

    /// Returns the peer's current data, from the newest of all its records: on several scopes, under several labels.
    /// [mdns.lost]
    private func current(_ uid: UID, of service: DNSName) -> PresentPeer? {
        serviceInstances(of: uid, in: service).compactMap(\.serviceInstance.appearance)
            .max { $0.freshness < $1.freshness }?.peer
    }

    /// Returns the peer's instances on all scopes, in a fixed order.
    func serviceInstances(of uid: UID, in service: DNSName) -> [(
        scope: Scope, serviceInstance: ServiceInstance
    )] {
        caches.keys.sorted().flatMap { id -> [(scope: Scope, serviceInstance: ServiceInstance)] in
            guard let cache = caches[id], let table = cache.tables[service] else { return [] }
            return table.names(of: uid).compactMap { name in
                table.serviceInstances[name].map { (cache.scope, $0) }
            }
        }
    }
}
