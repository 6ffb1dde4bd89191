package import MultipeerCore

/// One service type that is browsed.
struct ServiceSubscription: Sendable {
    /// The browsers, each with the peer that is not reported to it.
    var browsers: [BrowseID: UID?] = [:]
    var resolves: Set<ResolveID> = []
    /// The peers to which a link was lost, and until when they are asked for more often.
    var missed: [UID: Moment] = [:]

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

    /// Whether a browse of this service leaves the peer out.
    func hides(_ uid: UID, in service: DNSName) -> Bool {
        services[service]?.browsers.values.contains(uid) == true
    }

    /// Checks a peer to which a link was lost: at least two questions are asked, and without an answer it is lost in ten
    /// seconds. RFC 6762, 10.4. Until it answers it is asked for again and again, whatever the gap has grown to.
    package mutating func miss(_ uid: UID, of type: ServiceType, at now: Moment) {
        let service = Binding.serviceName(type)
        guard services[service]?.browsers.isEmpty == false else { return }
        let start = now + jitter.hesitation()
        for scope in caches.keys.sorted() {  // [mdns.reconfirm]
            caches[scope]?.doubt(uid, of: service, from: start, until: now + CachedRecord.reconfirmTimeout)
        }
        let missed = services[service]?.missed ?? [:]
        guard missed[uid] != nil || missed.count < Querier.mostMissed else { return }
        services[service]?.missed[uid] = now + Querier.missedTime
        for scope in caches.keys.sorted() { caches[scope]?.setMissing(true, of: service) }
        askAgain(for: service, at: now)
    }

    /// Asks at once for a missed peer whose address was reached, but never twice within a second. [mdns.missed]
    package mutating func reached(_ uid: UID, of type: ServiceType, at now: Moment) {
        let service = Binding.serviceName(type)
        if services[service]?.missed[uid] != nil { askAgain(for: service, at: now) }
    }

    /// Ends the check of a missed peer soon, with at least two questions by then: its addresses refuse connections. [mdns.missed]
    package mutating func refused(_ uid: UID, of type: ServiceType, at now: Moment) {
        let service = Binding.serviceName(type)
        guard services[service]?.missed[uid] != nil else { return }
        let start = now + jitter.hesitation()
        for scope in caches.keys.sorted() {
            caches[scope]?.doubt(uid, of: service, from: start, until: now + CachedRecord.refusedTimeout)
        }
    }

    private mutating func askAgain(for service: DNSName, at now: Moment) {
        for scope in caches.keys.sorted() where caches[scope]?.mayAsk(for: service, at: now) == true {
            ask(for: service, on: scope, at: now)
        }
    }

    /// A peer is no longer missed: it has answered, or it is linked.
    package mutating func regain(_ uid: UID, of type: ServiceType) {
        forgetMissed(Binding.serviceName(type)) { key, _ in key == uid }
    }

    private mutating func forgetMissed(_ service: DNSName, where isOver: (UID, Moment) -> Bool) {
        guard let missed = services[service]?.missed, !missed.isEmpty else { return }
        let left = missed.filter { !isOver($0.key, $0.value) }
        services[service]?.missed = left
        if left.isEmpty {
            for scope in caches.keys.sorted() { caches[scope]?.setMissing(false, of: service) }
        }
    }

    /// Stops asking for peers that were missed for too long.
    mutating func forgetMissed(at now: Moment) {
        for service in services.keys.sorted() { forgetMissed(service) { _, until in until <= now } }
    }

    /// Notes the missed peers that have sent an SRV record, as it was received: they are there again. [mdns.missed]
    mutating func noteReturns(_ records: [DNSRecord]) {
        for record in records where record.type == .srv && record.ttl > 0 {
            guard let service = record.name.parent, services[service]?.missed.isEmpty == false,
                let label = record.name.firstLabel, let uid = Binding.uid(inLabel: label),
                services[service]?.missed[uid] != nil
            else { continue }
            forgetMissed(service) { key, _ in key == uid }
            for id in (services[service]?.browsers.keys.sorted() ?? []) { emit(.returned(id, uid)) }
        }
    }

    /// How long a peer is missed, and how many are at a time.
    private static let missedTime = Duration.seconds(600)
    private static let mostMissed = 64

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
