/// What a session does when its mesh has too many members. Spec 11.8.
extension PeerMesh {
    /// Since when there are too many, and since when this one stands beyond the cap.
    struct OverCapacity {
        var since: Instant?
        var beyond: (since: Instant, hold: Duration)?
        var lastLook = Instant.now
    }

    /// Who did not run for 3 s knows nothing of what happened meanwhile.
    func lookAtClock(_ now: Instant) {
        if now - excess.lastLook > .seconds(3), bug != .countsSleep { excess = OverCapacity() }
        excess.lastLook = now
    }

    /// One too many leaves; after 10 s whoever has the fewest links; after 12 s the rest lets go of it.
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

    /// Nothing that is said of this peer is believed for a while.
    func setAside(_ endpoint: Endpoint) {
        known[endpoint] = nil
        if bug != .believesOfDismissed { dismissed[endpoint] = .now }
        excess.since = nil
        excess.beyond = nil
    }

    /// The uids of those that are no invention of one other member, in order, this one included.
    private func counted(_ component: [Endpoint]) -> [[UInt8]] {
        let firstHand = links.compactMap { known[$0.endpoint]?.entry }
        let real = component.filter { endpoint in
            links.contains { $0.endpoint == endpoint } || met[endpoint] != nil
                || Set(firstHand.filter { $0.list.contains(endpoint) }.map(\.endpoint.uid)).count >= 2
        }
        return Set(real.map(\.uid) + [me.uid]).sorted { $0.precedes($1) }
    }

    /// The same by the number of those of them that each is linked to, more first.
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
