import MultipeerCore
import MultipeerFraming
import MultipeerHandshake

/// The graph of the mesh as one member knows it: its own links, the entries that others flood, and the members reachable
/// over them. Spec 11.
struct MemberGraph: Sendable {
    let local: Endpoint
    var links: [ConnectionID: MeshLink] = [:]
    /// The entries of other members. Including our own one, and one for each mesh link whose entry has not arrived yet,
    /// at most 32.
    private(set) var database: [Endpoint: DatabaseEntry] = [:]
    /// The number of entries accepted so far.
    private var arrivals: UInt64 = 0
    /// The endpoints with an entry that no reachable member vouches for, and since when.
    private var unreachable: [Endpoint: Moment] = [:]
    /// The members whose links were lost, and until when each is missed. [mesh.missed]
    private(set) var missed: [Endpoint: Moment] = [:]
    /// The endpoints connected to us over pairs that list each other.
    private(set) var reached: Set<Endpoint> = []
    /// The same in their order.
    private(set) var component: [Endpoint] = []
    /// Whether links or entries changed since `reached` was computed.
    private var isChanged = false
    /// The endpoints that have shown that they exist, and until when that counts.
    var meetings = ExpiringEndpoints()
    /// The same, however long ago: the last 64.
    var everMet = ExpiringEndpoints()

    init(_ local: Endpoint) { self.local = local }

    /// Notes that a link began or ended.
    mutating func linksChanged() { isChanged = true }
}

// MARK: links

extension MemberGraph {
    /// The other ends of our mesh links.
    var neighbours: Set<Endpoint> { Set(links.values.lazy.filter(\.isMesh).map(\.endpoint)) }

    func isNeighbour(_ endpoint: Endpoint) -> Bool {
        links.values.contains { $0.isMesh && $0.endpoint == endpoint }
    }

    /// Returns the other counted members to which this one has a link.
    func partners(of uid: UID, among counted: Set<UID>) -> Set<UID> {
        let neighbours = neighbours
        var partners: Set<UID> = []
        if uid == local.uid {
            partners = Set(neighbours.map(\.uid))
        } else {
            for endpoint in reached where endpoint.uid == uid {
                let others = (database[endpoint]?.entry.members ?? []).filter {
                    reached.contains($0) && areLinked(endpoint, $0)
                }
                partners.formUnion(others.lazy.map(\.uid).filter { $0 != self.local.uid })
            }
            if neighbours.contains(where: { $0.uid == uid }) { partners.insert(local.uid) }
        }
        return partners.intersection(counted).subtracting([uid])
    }
}

// MARK: entries

extension MemberGraph {
    /// Stores an entry that arrived on this link, for which there is room, in place of the stored one of its origin.
    mutating func hold(_ entry: Members, _ data: ConnectionData, from id: ConnectionID, at now: Moment) {
        let held = database[entry.origin]
        if held == nil {
            arrivals += 1
            unreachable[entry.origin] = now
        }
        database[entry.origin] = DatabaseEntry(
            entry: entry, data: data, link: id, arrival: held?.arrival ?? arrivals)
        isChanged = true
    }

    mutating func remove(_ origin: Endpoint) {
        guard database.removeValue(forKey: origin) != nil else { return }
        unreachable[origin] = nil
        isChanged = true
        for id in links.keys { links[id]?.dequeue(origin) }
    }

    func isLater(_ endpoint: Endpoint, than other: Endpoint) -> Bool {
        guard let first = database[endpoint], let second = database[other] else { return false }
        return first.arrival > second.arrival
    }
}

// MARK: reachability

extension MemberGraph {
    /// Recomputes which members are reachable, if anything changed. Our own links need no corroboration.
    /// [mesh.component]
    mutating func explore(at now: Moment) {
        guard isChanged else { return }
        isChanged = false
        reached = neighbours
        var frontier = Array(reached)
        while let endpoint = frontier.popLast() {
            for other in database[endpoint]?.entry.members ?? []
            where !reached.contains(other) && other != local {
                guard areLinked(endpoint, other) else { continue }
                reached.insert(other)
                frontier.append(other)
            }
        }
        component = reached.sorted(by: <)
        for origin in database.keys where !reached.contains(origin) && unreachable[origin] == nil {
            unreachable[origin] = now
        }
        if !unreachable.isEmpty { unreachable = unreachable.filter { !reached.contains($0.key) } }
    }

    /// Returns whether both entries list the link.
    func areLinked(_ one: Endpoint, _ other: Endpoint) -> Bool {
        guard let first = database[one], let second = database[other] else { return false }
        return first.entry.members.contains(other) && second.entry.members.contains(one)
    }

    mutating func dropUnreachable(at now: Moment) {
        missed = missed.filter { now < $0.value && database[$0.key] != nil }
        for (origin, since) in unreachable
        where now >= since + MembershipTiming.unreachable && missed[origin] == nil {
            remove(origin)  // [mesh.component]
        }
        isChanged = false  // No member was reachable over them.
    }

    /// The time at which the next entry is dropped.
    var purging: Moment? {
        let drops = unreachable.lazy.filter { self.missed[$0.key] == nil }.map {
            $0.value + MembershipTiming.unreachable
        }
        return .earlier(drops.min(), missed.values.min())
    }
}

// MARK: members whose links were lost

extension MemberGraph {
    mutating func miss(_ endpoint: Endpoint, until end: Moment) { missed[endpoint] = end }

    /// Forgets an endpoint that is linked or does not want to be, and the instances of its peer that became known before it.
    mutating func stopMissing(_ endpoint: Endpoint) {
        missed[endpoint] = nil
        for other in missed.keys where other.uid == endpoint.uid && !isLater(other, than: endpoint) {
            missed[other] = nil
        }
    }

    /// Returns whether this endpoint is missed and no member of the component.
    func isCutOff(_ endpoint: Endpoint) -> Bool { missed[endpoint] != nil && !reached.contains(endpoint) }
}

// MARK: limits on entries

extension MemberGraph {
    /// Returns the members that are not merely invented by one other member: our links, endpoints that have shown
    /// themselves to us, and endpoints that two of our links vouch for. [mesh.counted]
    func counted(at now: Moment) -> Set<UID> {
        let statements = statements
        return Set(reached.lazy.filter { self.isReal($0, statements, at: now) }.map(\.uid)).union([local.uid])
    }

    private func isReal(_ endpoint: Endpoint, _ statements: [Members], at now: Moment) -> Bool {
        isNeighbour(endpoint)
            || meetings.holds(endpoint, at: now) || isCorroborated(endpoint, by: statements)
    }

    /// What the neighbours state of their links, each on its own link.
    private var statements: [Members] {
        links.compactMap { id, link in
            guard link.isMesh, let held = database[link.endpoint], held.link == id else { return nil }
            return held.entry
        }
    }

    /// Returns whether two neighbours of different peers state, each on its own link, that they have a link to it, and
    /// its entry does not contradict that. [mesh.counted]
    private func isCorroborated(_ endpoint: Endpoint, by statements: [Members]) -> Bool {
        let denied = database[endpoint]?.entry.members
        var first: UID?
        for statement in statements where statement.members.contains(endpoint) {
            let neighbour = statement.origin
            guard neighbour.uid != endpoint.uid, denied?.contains(neighbour) != false else { continue }
            if let first, first != neighbour.uid { return true }
            first = neighbour.uid
        }
        return false
    }

    /// Makes room for an entry of `origin` if necessary; returns whether there is room. [mesh.entries]
    ///
    /// Unreachable endpoints are removed, those unreachable for the longest time first, and those that are missed last. A linked endpoint's own entry
    /// always gets a place, and so does one that counts: an endpoint that only one member has ever reported is removed for it.
    mutating func makeRoom(for origin: Endpoint, isLinked: Bool, at now: Moment) -> Bool {
        let neighbours = neighbours
        guard database[origin] == nil, !neighbours.contains(origin) else { return true }
        let taken = neighbours.union(database.keys).count
        guard taken >= Limits.memberEntries - 1 else { return true }
        explore(at: now)
        let others = database.filter { !neighbours.contains($0.key) }
        if let oldest = others.keys.filter({ unreachable[$0] != nil }).min(by: isOlder) {
            remove(oldest)
            return true
        }
        let statements = statements
        guard isLinked || isReal(origin, statements, at: now) else { return false }
        let doubtful = others.filter { !isReal($0.key, statements, at: now) }
        let replaceable = isLinked && doubtful.isEmpty ? others : doubtful
        guard let latest = replaceable.max(by: { $0.value.arrival < $1.value.arrival }) else {
            return isLinked
        }
        remove(latest.key)
        return true
    }

    private func isOlder(_ one: Endpoint, _ other: Endpoint) -> Bool {
        if (missed[one] == nil) != (missed[other] == nil) { return missed[one] == nil }
        let (first, second) = (unreachable[one] ?? .distantFuture, unreachable[other] ?? .distantFuture)
        return first < second || first == second && isLater(other, than: one)
    }
}
