package import MultipeerCore

/// A request for the addresses of a peer.
struct PendingResolution: Sendable {
    let uid: UID
    let service: DNSName
    let until: Moment
    /// The time until which further addresses may follow, once one is known.
    var settles: Moment?

    var deadline: Moment { min(until, settles ?? until) }
}

extension Querier {
    /// Starts a resolution, which always ends in `.resolved`: at once with what is known, otherwise with what is received
    /// within `time`, or with nothing.
    package mutating func resolve(
        _ uid: UID, of type: ServiceType, within time: Duration, as id: ResolveID, at now: Moment
    ) {
        let service = use(type, at: now)
        services[service]?.resolves.insert(id)
        resolves[id] = PendingResolution(uid: uid, service: service, until: now + max(time, .zero))
        if resolves.count > Resolution.most { return finish(id) }  // [mdns.limit]
        if serviceInstances(of: uid, in: service).isEmpty {
            for scope in caches.keys.sorted() where askingGap(for: service, on: scope) > Querier.freshGap {
                ask(for: service, on: scope, at: now)
            }
        }
        settle(at: now)
    }

    private static let freshGap = Duration.seconds(2)

    /// Ends resolutions that are complete, and queries what is missing.
    mutating func settle(at now: Moment) {
        for id in resolves.keys.sorted() {
            guard let resolve = resolves[id] else { continue }
            let places = serviceInstances(of: resolve.uid, in: resolve.service)
                .flatMap { place in place.serviceInstance.destinations.map { (place.scope.id, $0.name) } }
            let missing = places.filter { caches[$0.0]?.hosts[$0.1]?.isKnown != true }
            let hasAll = places.allSatisfy { isComplete($0.1, on: $0.0) }
            if !places.isEmpty && hasAll || resolve.deadline <= now {
                finish(id)
                continue
            }
            if missing.count < places.count, resolve.settles == nil {
                resolves[id]?.settles = now + (missing.isEmpty ? Resolution.otherFamily : Resolution.settling)
            }
            for (scope, host) in missing { want(host, on: scope, until: resolve.until, at: now) }
        }
    }

    /// Returns whether an address of each family in use on the scope is known.
    private func isComplete(_ host: DNSName, on scope: UInt32) -> Bool {
        guard let cache = caches[scope], let known = cache.hosts[host] else { return false }
        return (known.v4.count > 0 || !cache.scope.families.contains(.v4))
            && (known.v6.count > 0 || !cache.scope.families.contains(.v6))
    }

    private mutating func want(_ host: DNSName, on scope: UInt32, until: Moment, at now: Moment) {
        let isNew = caches[scope]?.want(host, until: until, at: now, jitter: &jitter) ?? false
        guard isNew else { return }
        askAtOnce([DNSQuestion(host, .a), DNSQuestion(host, .aaaa)], on: scope, at: now)
    }

    private mutating func finish(_ id: ResolveID) {
        guard let resolve = resolves.removeValue(forKey: id) else { return }
        emit(.resolved(id, resolution(of: resolve)))
        services[resolve.service]?.resolves.remove(id)
        dropIfUnused(resolve.service)
    }

    /// Returns only addresses to which the SRV records point. Confirmed instances come first, then the newest; no label, no scope
    /// and no SRV record takes all the places.
    private func resolution(of resolve: PendingResolution) -> Resolution {
        let places = serviceInstances(of: resolve.uid, in: resolve.service).sorted { one, other in
            if one.serviceInstance.isConfirmed != other.serviceInstance.isConfirmed {
                return one.serviceInstance.isConfirmed
            }
            return one.serviceInstance.freshness > other.serviceInstance.freshness
        }
        return Resolution(
            inTurn: places.flatMap { place in
                place.serviceInstance.destinations.map { candidates(at: $0.name, $0.port, on: place.scope) }
            })
    }

    /// Returns a host's addresses on one scope. A loopback address means this machine, so it is ignored on other
    /// interfaces. [mdns.scope]
    private func candidates(at host: DNSName, _ port: UInt16, on scope: Scope) -> [Candidate] {
        guard let known = caches[scope.id]?.hosts[host] else { return [] }
        return known.addresses.flatMap { bytes -> [Candidate] in
            guard let candidate = Candidate(address: bytes, port: port),
                candidate.isDialable(allowingLoopback: scope.isLoopback)
            else { return [] }
            return candidate.tried(on: [scope.id])  // [mdns.scope]
        }
    }
}
