import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction

/// The link-state database: which entry counts, who is reachable, whom there is room for. Spec 11.
extension Membership {
    /// The other ends of our mesh links.
    var neighbours: Set<Endpoint> { Set(links.values.lazy.filter(\.isMesh).map(\.endpoint)) }

    private func isNeighbour(_ endpoint: Endpoint) -> Bool {
        links.values.contains { $0.isMesh && $0.endpoint == endpoint }
    }

    /// Own mesh links, or the data if there are new ones, changed. [mesh.own]
    mutating func renewOwnEntry(data: [UInt8]? = nil) {
        isChanged = true
        let known = own ?? Members(origin: local, sequence: 0, members: [])
        let list = Array(neighbours.sorted(by: <).prefix(Membership.longestList))
        guard let blob = data ?? own?.blob, blob != known.blob || list != known.members else { return }
        guard known.sequence < .max else { return }
        own = Members(origin: local, sequence: known.sequence + 1, members: list, blob: blob)
        enqueueOwnEntry()
    }

    /// Somebody passes on an entry of ours that is not ours: whatever it says, ours becomes newer. Far from the end of the
    /// numbers, so that nobody can use them up for us.
    mutating func answer(_ entry: Members) {
        guard var own, entry != own, entry.sequence >= own.sequence else { return }
        guard entry.sequence < Membership.highestAnswered else { return }
        own.sequence = entry.sequence + 1  // [mesh.own]
        self.own = own
        enqueueOwnEntry()
    }

    private static let highestAnswered: UInt32 = 1 << 31

    /// Keeps and passes on an entry of somebody else, if it says anything new.
    mutating func take(_ entry: Members, _ data: ConnectionData, from id: ConnectionID) {
        let origin = entry.origin
        let isFirstHand = links[id]?.endpoint == origin
        // [mesh.first-hand]
        guard isFirstHand || !isNeighbour(origin) else { return keep(entry, data, from: id) }
        if dismissed[origin] != nil { return keep(entry, data, from: id) }  // [mesh.dismiss]
        guard !departures.holds(origin, at: now) else { return }  // [mesh.departed]
        let held = database[origin]
        if let held {
            let isRumour = isFirstHand && held.link != id
            guard isRumour || entry.sequence > held.entry.sequence else {  // [mesh.newer]
                if entry.sequence == held.entry.sequence { links[id]?.dequeue(origin) }
                return
            }
        } else {
            guard makeRoom(for: origin, isLinked: isFirstHand) else { return }
            arrivals += 1
        }
        database[origin] = HeldEntry(
            entry: entry, data: data, link: id, arrival: held?.arrival ?? arrivals,
            unreachableSince: held == nil ? now : held?.unreachableSince)
        isChanged = true
        links[id]?.dequeue(origin)
        if held?.entry != entry { enqueue(origin, except: id) }
    }

    /// Not believed while the link to its endpoint stands. That link may be dead without our knowing, so it is kept: nobody
    /// says it twice.
    private mutating func keep(_ entry: Members, _ data: ConnectionData, from id: ConnectionID) {
        let known = [database[entry.origin]?.entry, rumours[entry.origin]?.entry].compactMap { $0?.sequence }
        guard known.allSatisfy({ entry.sequence > $0 }) else { return }
        rumours[entry.origin] = Rumour(entry: entry, data: data, link: id)
    }

    /// The link to `origin` is gone, so what others say of it counts. [mesh.first-hand]
    mutating func believeRumour(of origin: Endpoint) {
        guard let rumour = rumours.removeValue(forKey: origin) else { return }
        take(rumour.entry, rumour.data, from: rumour.link)
    }

    /// The time is over in which nothing that is said of somebody dismissed counts. [mesh.dismiss]
    mutating func believeOfDismissed() {
        for (endpoint, until) in dismissed.sorted(by: { $0.key < $1.key }) where until <= now {
            dismissed[endpoint] = nil
            believeRumour(of: endpoint)
        }
    }

    mutating func remove(_ origin: Endpoint) {
        guard database.removeValue(forKey: origin) != nil else { return }
        isChanged = true
        for id in links.keys { links[id]?.dequeue(origin) }
    }
}

// MARK: who is reachable

extension Membership {
    /// Finds out again who is reachable, if anything changed. Our own links need no witness. [mesh.component]
    mutating func explore() {
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
        for origin in database.keys {
            let since = database[origin]?.unreachableSince ?? now
            database[origin]?.unreachableSince = reached.contains(origin) ? nil : since
        }
    }

    /// Whether both say so.
    func areLinked(_ one: Endpoint, _ other: Endpoint) -> Bool {
        guard let first = database[one], let second = database[other] else { return false }
        return first.entry.members.contains(other) && second.entry.members.contains(one)
    }

    mutating func dropUnreachable() {
        for (origin, held) in database {
            guard let since = held.unreachableSince, now >= since + Timing.unreachable else { continue }
            remove(origin)  // [mesh.component]
        }
        isChanged = false  // Nobody was reachable over them.
    }

    /// When the next entry is dropped.
    var purging: Moment? {
        database.values.lazy.compactMap(\.unreachableSince).min().map { $0 + Timing.unreachable }
    }
}

// MARK: how many entries

extension Membership {
    /// Whether there is, or now is, a place for an entry of `origin`. [mesh.entries]
    ///
    /// Whoever is unreachable gives way, for the longest time first. A link's own entry always finds a place, and so does
    /// one for which two neighbours stand: what nobody but one member has ever seen gives way to it.
    mutating func makeRoom(for origin: Endpoint, isLinked: Bool) -> Bool {
        let neighbours = neighbours
        guard database[origin] == nil, !neighbours.contains(origin) else { return true }
        let taken = neighbours.union(database.keys).count
        guard taken >= Limits.memberEntries - 1 else { return true }
        explore()
        let others = database.filter { !neighbours.contains($0.key) }
        if let oldest = others.filter({ $0.value.unreachableSince != nil }).min(by: Membership.isOlder) {
            remove(oldest.key)
            return true
        }
        guard isLinked || isVouchedFor(origin) else { return false }
        let doubtful = others.filter { !isReal($0.key) }
        let replaceable = isLinked && doubtful.isEmpty ? others : doubtful
        guard let latest = replaceable.max(by: { $0.value.arrival < $1.value.arrival }) else {
            return isLinked
        }
        remove(latest.key)
        return true
    }

    private static func isOlder(
        _ one: (key: Endpoint, value: HeldEntry), _ other: (key: Endpoint, value: HeldEntry)
    ) -> Bool {
        let first = one.value.unreachableSince ?? .distantFuture
        let second = other.value.unreachableSince ?? .distantFuture
        return (first, one.value.arrival) < (second, other.value.arrival)
    }
}
