package import MultipeerCore
import MultipeerFraming
import MultipeerHandshake

/// Whether the mesh has too many members, and since when.
struct OverCapacity: Sendable {
    var since: Moment?
    /// The time at which this member leaves if it still ranks below the cap.
    var hold: Moment?
    var hasLeft = false
}

/// The cap on the whole mesh: which members may join, and which are evicted when there are too many. Spec 11.
extension Membership {
    /// Returns whether the two meshes that a link to `remote` would join have room for each other. [mesh.full]
    package func admits(_ remote: Endpoint, listing members: [Endpoint]) -> Bool {
        snapshot(at: now).admits(remote, listing: members)
    }

    /// Returns the members now, and which of them count. [mesh.counted]
    func snapshot(at now: Moment) -> MeshSnapshot {
        var snapshot = MeshSnapshot(local.uid, limit: cap)
        snapshot.members = component
        snapshot.uncounted = Set(component.lazy.map(\.uid)).subtracting(graph.counted(at: now))
        return snapshot
    }

    /// Leaves when this member has ranked below the cap for its hold of 1 s to 2 s. [mesh.evict]
    mutating func updateOverCapacity() {
        guard !overCapacity.hasLeft else { return }
        let counted = graph.reached.count < cap ? [] : graph.counted(at: now)
        guard counted.count > cap else {
            overCapacity = OverCapacity()
            return
        }
        let since = overCapacity.since ?? now
        overCapacity.since = since
        let isLate = now >= since + MembershipTiming.backstop
        guard ranksBelow(counted) || isLate && lastByPairs(counted).contains(local.uid) else {
            overCapacity.hold = nil
            return
        }
        if let hold = overCapacity.hold {
            overCapacity.hasLeft = now >= hold
        } else {
            overCapacity.hold = now + .seconds(1) * (jitter.factor() + 0.5)
        }
    }

    private func ranksBelow(_ counted: Set<UID>) -> Bool { counted.count { $0 < local.uid } >= cap }

    /// Returns the least connected members, which leave as a backstop when a member that should have left has not.
    /// [mesh.backstop]
    private func lastByPairs(_ counted: Set<UID>) -> Set<UID> {
        let pairs = counted.map { (uid: $0, count: graph.partners(of: $0, among: counted).count) }
        let ranked = pairs.sorted { ($1.count, $0.uid) < ($0.count, $1.uid) }
        return Set(ranked.dropFirst(cap).map(\.uid))
    }

    /// Dismisses members that should have left: such a member may not detect it, since two that cannot reach each other
    /// may each be one too many for the rest. [mesh.dismiss]
    mutating func dismissWhoShouldGo() -> [Action] {
        guard let since = overCapacity.since, now >= since + MembershipTiming.dismissal else { return [] }
        let last = lastByPairs(graph.counted(at: now))
        return graph.links.keys.sorted().compactMap { id in
            guard let link = graph.links[id], link.isMesh, !link.isDismissed, last.contains(link.endpoint.uid)
            else {
                return nil
            }
            graph.links[id]?.isDismissed = true
            return .dismiss(id)
        }
    }

    /// The time at which a member may have to leave, or of the next check: a clock that jumps over several checks shows that
    /// the process was suspended.
    var leaving: Moment? {
        guard let since = overCapacity.since else { return nil }
        let moments = [since + MembershipTiming.backstop, since + MembershipTiming.dismissal].filter {
            now < $0
        }
        return (moments + [overCapacity.hold, now + MembershipTiming.look].compactMap { $0 }).min()
    }
}
