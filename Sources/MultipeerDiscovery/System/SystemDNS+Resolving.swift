package import MultipeerCore

/// Addresses.
extension SystemDNS {
    /// Starts a resolution, which always ends in `.resolved`: with what is found within `time`, or with nothing.
    package mutating func resolve(
        _ uid: UID, of type: ServiceType, within time: Duration, at now: Moment
    ) -> ResolveID {
        let id = ResolveID(newID())
        use(type, at: now) { $0.resolutions.insert(id) }
        resolutions[id] = SystemResolution(uid: uid, type: type, until: now + max(time, .zero))
        if resolutions.count > Resolution.most { finish(id) } else { settle(at: now) }  // [mdns.limit]
        return id
    }

    /// Ends resolutions that are complete, and queries the addresses that are missing.
    mutating func settle(at now: Moment) {
        var wanted: [[DNSName]] = []
        for id in resolutions.keys.sorted() {
            guard let resolution = resolutions[id] else { continue }
            let instances = services[resolution.type]?.table.destinations(of: resolution.uid) ?? []
            let places = instances.flatMap(\.self)
            let known = places.filter { !candidates(at: $0).isEmpty }
            if !known.isEmpty {
                let isWhole = places.allSatisfy { hosts[$0.host]?.isWhole(on: $0.interface) == true }
                let rest = known.count == places.count ? Resolution.otherFamily : Resolution.settling
                let settled = isWhole ? now : now + rest
                resolutions[id]?.settles = min(resolution.settles ?? settled, settled)
            }
            if resolutions[id]?.deadline ?? now <= now {
                finish(id)
            } else {
                wanted.append(Array(inTurn: instances.map { $0.map(\.host) }, most: SystemHost.most))
            }
        }
        query(Array(inTurn: wanted, most: SystemHost.most), at: now)
    }

    /// Queries the addresses of these hosts, and of no others.
    private mutating func query(_ wanted: [DNSName], at now: Moment) {
        for host in hosts.keys.sorted() where !wanted.contains(host) {
            hosts[host] = nil
            for kind in SystemDNS.families { end(.address(host, kind)) }
        }
        for host in wanted where hosts[host] == nil {
            hosts[host] = SystemHost(countsRepeats: countsRepeats)
            for kind in SystemDNS.families { start(.address(host, kind), at: now) }
        }
    }

    private mutating func finish(_ id: ResolveID) {
        guard let resolution = resolutions.removeValue(forKey: id) else { return }
        emit(.resolved(id, found(for: resolution)))
        services[resolution.type]?.resolutions.remove(id)
        dropIfUnused(resolution.type)
    }

    /// Returns the addresses of the peer's hosts; no instance and no SRV record takes all the places.
    private func found(for resolution: SystemResolution) -> Resolution {
        let places = services[resolution.type]?.table.destinations(of: resolution.uid) ?? []
        return Resolution(
            inTurn: places.map { hosts in
                Array(inTurn: hosts.map { candidates(at: $0) }, most: Resolution.mostCandidates)
            })
    }

    /// Returns the addresses of one host on one interface. A loopback address means this machine, so it is ignored on other
    /// interfaces. [mdns.scope]
    private func candidates(at place: SystemDestination) -> [Candidate] {
        let addresses = hosts[place.host]?.addresses(on: place.interface) ?? []
        return addresses.flatMap { bytes -> [Candidate] in
            guard let candidate = Candidate(address: bytes, port: place.port),
                candidate.isDialable(allowingLoopback: loopback.contains(place.interface))
            else { return [] }
            return candidate.tried(on: [place.interface])
        }
    }

    private static let families: [DNSType] = [.a, .aaaa]
}
