package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction

/// Whether the mesh has too many members, and since when.
struct Excess: Sendable {
    var since: Moment?
    /// This member ranks behind the last seat, and goes then if it still does.
    var hold: Moment?
    var hasLeft = false
}

/// The cap on the whole mesh: who may come in, and who goes when too many did. Spec 11.
extension Membership {
    /// Whether the two meshes that a link to `remote` would join have room for each other. [mesh.full]
    package func admits(_ remote: Endpoint, listing members: [Endpoint]) -> Bool {
        var company = Company(local.uid, limit: cap)
        company.members = component
        return company.admits(remote, listing: members)
    }

    /// Members that are no invention of one other member: our links, whoever showed itself to us, and whoever two of our
    /// links stand for. [mesh.counted]
    var counted: Set<UID> {
        Set(reached.lazy.filter { self.isReal($0) }.map(\.uid)).union([local.uid])
    }

    func isReal(_ endpoint: Endpoint) -> Bool {
        links.values.contains { $0.isMesh && $0.endpoint == endpoint }
            || meetings.holds(endpoint, at: now) || isVouchedFor(endpoint)
    }

    /// Whether two neighbours of different peers say, each on its own link, that they have a link to it, and its entry
    /// does not deny that. [mesh.counted]
    func isVouchedFor(_ endpoint: Endpoint) -> Bool {
        let denied = database[endpoint].map(\.entry.members)
        var first: UID?
        for (id, link) in links where link.isMesh && link.endpoint.uid != endpoint.uid {
            guard let held = database[link.endpoint], held.link == id,
                held.entry.members.contains(endpoint), denied?.contains(link.endpoint) != false
            else { continue }
            if let first, first != link.endpoint.uid { return true }
            first = link.endpoint.uid
        }
        return false
    }

    /// Leaves when it has ranked behind the last seat for its hold of 1 s to 2 s. [mesh.evict]
    mutating func judgeExcess() {
        guard !excess.hasLeft else { return }
        let counted = reached.count < cap ? [] : counted
        guard counted.count > cap else {
            excess = Excess()
            return
        }
        let since = excess.since ?? now
        excess.since = since
        let isLate = now >= since + Timing.backstop
        guard ranksBehind(counted) || isLate && lastByPairs(counted).contains(local.uid) else {
            excess.hold = nil
            return
        }
        if let hold = excess.hold {
            excess.hasLeft = now >= hold
        } else {
            excess.hold = now + .seconds(1) * (jitter.factor() + 0.5)
        }
    }

    private func ranksBehind(_ counted: Set<UID>) -> Bool { counted.count { $0 < local.uid } >= cap }

    /// The backstop: somebody who should have gone has not, so whoever is least connected goes. [mesh.backstop]
    private func lastByPairs(_ counted: Set<UID>) -> Set<UID> {
        let pairs = counted.map { (uid: $0, count: partners(of: $0, among: counted).count) }
        let ranked = pairs.sorted { ($1.count, $0.uid) < ($0.count, $1.uid) }
        return Set(ranked.dropFirst(cap).map(\.uid))
    }

    /// Whoever should have gone may not see it: two that cannot reach each other may each be one too many for the rest. So
    /// the rest lets go of it. [mesh.dismiss]
    mutating func dismissWhoShouldGo() -> [Action] {
        guard let since = excess.since, now >= since + Timing.dismissal else { return [] }
        let last = lastByPairs(counted)
        return links.keys.sorted().compactMap { id in
            guard let link = links[id], link.isMesh, !link.isDismissed, last.contains(link.endpoint.uid)
            else {
                return nil
            }
            links[id]?.isDismissed = true
            return .dismiss(id)
        }
    }

    /// The other counted members to which this one has a link.
    private func partners(of uid: UID, among counted: Set<UID>) -> Set<UID> {
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

    /// When somebody may have to go, or it is time to look again: a clock that jumps over several looks shows that we slept.
    var leaving: Moment? {
        guard let since = excess.since else { return nil }
        let moments = [since + Timing.backstop, since + Timing.dismissal].filter { now < $0 }
        return (moments + [excess.hold, now + Timing.look].compactMap { $0 }).min()
    }
}
