/// How a session handles a mesh with too many members. Spec 11.8.
extension PeerMesh {
    /// Since when there are too many, and since when this one is beyond the cap.
    struct OverCapacity {
        var since: Instant?
        var beyond: (since: Instant, hold: Duration)?
        var lastLook = Instant.now
    }

    /// Detects a suspension: a process that did not run for 3 s knows nothing of what happened meanwhile.
    func lookAtClock(_ now: Instant) {
        if now - excess.lastLook > .seconds(3), bug != .countsSleep { excess = OverCapacity() }
        excess.lastLook = now
    }

    /// Handles a mesh with a member too many: that member leaves; after 10 s the one with the fewest links; after 12 s
    /// the rest end their links to it.
    func judgeExcess(_ component: [Endpoint], _ now: Instant) {
        let counted = counted(component)
        guard counted.count > session.settings.cap, bug != .neverLeaves else {
            excess.since = nil
            excess.beyond = nil
            return
        }
        let since = excess.since ?? now
        excess.since = since
        let last = ranked(counted).dropFirst(session.settings.cap)
        let isLate = now - since >= .seconds(10) && bug != .neverRanks
        let isLast = counted.dropFirst(session.settings.cap).contains(me.uid)
        if isLast || (isLate && last.contains(me.uid)) {
            let beyond = excess.beyond ?? (now, .milliseconds(Int.random(in: 1_000...2_000)))
            excess.beyond = beyond
            if now - beyond.since >= beyond.hold { return session.leave(.full) }
        } else {
            excess.beyond = nil
        }
        guard now - since >= .seconds(12), bug != .neverDismisses else { return }
        for link in links where last.contains(link.uid) {
            link.end("withdrawn", .unknownPeer, saying: .unknownPeer)
        }
    }

    /// Ignores entries about this peer for a while.
    func setAside(_ endpoint: Endpoint) {
        known[endpoint] = nil
        if bug != .believesOfDismissed { dismissed[endpoint] = .now }
        excess.since = nil
        excess.beyond = nil
    }

    /// Returns the uids of the members that are no invention of one other member, in order, this one included.
    func counted(_ component: [Endpoint]) -> [[UInt8]] {
        let firstHand = links.compactMap { known[$0.endpoint]?.entry }
        let real = component.filter { endpoint in
            links.contains { $0.endpoint == endpoint } || met[endpoint] != nil
                || Set(firstHand.filter { $0.list.contains(endpoint) }.map(\.endpoint.uid)).count >= 2
        }
        return Set(real.map(\.uid) + [me.uid]).sorted { $0.precedes($1) }
    }

    /// Returns the same ranked by the number of those to which each is linked, more first.
    private func ranked(_ counted: [[UInt8]]) -> [[UInt8]] {
        let others = Set(counted)
        let mine = Set(links.map(\.uid))
        let counts = counted.map { uid -> Int in
            if uid == me.uid { return mine.intersection(others).count }
            let partners = known.filter { $0.key.uid == uid }.flatMap { endpoint, one in
                one.entry.list.filter { known[$0]?.entry.list.contains(endpoint) ?? false }.map(\.uid)
            }
            return Set(partners).intersection(others).subtracting([uid, me.uid]).count
                + (mine.contains(uid) ? 1 : 0)
        }
        // The order of uids stays among equals.
        return zip(counted, counts).enumerated().sorted {
            ($1.element.1, $0.offset) < ($0.element.1, $1.offset)
        }.map(\.element.0)
    }
}
