/// The members of a session's mesh: what they say, whom it reaches, whom it seeks. Spec 11.
final class PeerMesh {
    /// An entry that is held.
    struct Known {
        let entry: MemberEntry
        let held: Held
        var outsideSince: Instant?
    }

    unowned let session: PeerSession
    private var known: [Endpoint: Known] = [:]
    private var own: MemberEntry?
    private var highest: UInt32 = 0
    private var departed: [Endpoint: Instant] = [:]
    private var met: [Endpoint: Instant] = [:]
    private var waiting: [Endpoint: (until: Instant, failures: Int)] = [:]
    private var sought: Set<Endpoint> = []
    private var outboxes: [Endpoint: (queue: [Endpoint], bucket: Bucket)] = [:]
    private var tooMany: (since: Instant, hold: Duration)?

    init(_ session: PeerSession) { self.session = session }

    private var bug: Bug? { session.bug }
    private var me: Endpoint { session.endpoint }
    private var links: [PeerLink] { session.links.values.filter(\.isMesh) }

    func isMesh(_ held: Held, _ mine: Issued, isPlain: Bool) -> Bool {
        let isOpen = session.preference == .none && held.data.preference == .none
        guard !isPlain || isOpen || bug == .tellsOverPlain else { return false }
        return bug == .introducesManual || (mine.isMesh && held.data.flags & ConnectionData.Flag.mesh != 0)
    }

    // MARK: Component

    /// Whom the session reaches, itself not counted. Spec 11.2.
    var component: [Endpoint] {
        var reached = Set(links.map(\.endpoint))
        var fresh = reached
        while let one = fresh.popFirst() {
            for other in known[one]?.entry.list ?? [] where other != me && !reached.contains(other) {
                guard let back = known[other] else { continue }
                guard back.entry.list.contains(one) || bug == .dialsOneSided else { continue }
                reached.insert(other)
                fresh.insert(other)
            }
        }
        return reached.sorted { $0.bytes.precedes($1.bytes) }
    }

    /// Check 11 of 6.2.
    func checkRoom(for endpoint: Endpoint, _ members: [[UInt8]]) throws(Refusal) {
        met[endpoint] = .now
        let component = component
        if component.contains(endpoint), members.contains(me.bytes) { return }
        let uids = Set(component.map(\.uid) + members.map { Array($0.prefix(16)) } + [me.uid, endpoint.uid])
        try demand(uids.count <= session.settings.cap, .full, "the mesh has no room")
    }

    // MARK: Telling

    private func makeOwn() -> MemberEntry {
        let list = links.map(\.endpoint).sorted { $0.bytes.precedes($1.bytes) }
        let data = session.issue(for: nil, isMesh: true, lifetime: 86_400).bytes
        if let own, own.list == list, own.data == data, own.sequence >= highest { return own }
        highest += 1
        let made = MemberEntry(me, highest, list: list, data: data)
        own = made
        return made
    }

    /// A link was made: it is told everything, and all others that it is there.
    func linked(_ link: PeerLink) {
        guard link.isMesh else { return }
        departed[link.endpoint] = nil
        waiting[link.endpoint] = nil
        sought.remove(link.endpoint)
        outboxes[link.endpoint] = ([], Bucket(size: 32, perSecond: 15))
        tellOwn()
        for endpoint in known.keys { queue(endpoint, to: link) }
        pour()
    }

    func unlinked(_ link: PeerLink, _ reason: String, _ code: Code?) {
        guard link.isMesh else { return }
        outboxes[link.endpoint] = nil
        if reason == "closedByPeer", code == .goodbye || (code == .full && link.hasEntry) {
            known[link.endpoint] = nil
            departed[link.endpoint] = .now
        }
        if reason != "left", reason != "full" { tellOwn() }
    }

    private func tellOwn() {
        let before = own
        guard makeOwn() != before || !links.isEmpty else { return }
        for link in links { queue(me, to: link) }
        pour()
    }

    private func queue(_ endpoint: Endpoint, to link: PeerLink) {
        guard endpoint != link.endpoint, bug != .neverIntroduces else { return }
        guard var outbox = outboxes[link.endpoint], !outbox.queue.contains(endpoint) else { return }
        if endpoint == me { outbox.queue.insert(endpoint, at: 0) } else { outbox.queue.append(endpoint) }
        outboxes[link.endpoint] = outbox
    }

    /// Tells what waits, as fast as the bucket of each link allows. Spec 11.5.
    private func pour() {
        for link in links {
            while var outbox = outboxes[link.endpoint], let next = outbox.queue.first, outbox.bucket.take() {
                outbox.queue.removeFirst()
                outboxes[link.endpoint] = outbox
                if let entry = next == me ? own : known[next]?.entry { link.send(entry.frame) }
            }
        }
    }

    // MARK: What comes

    /// The checks of 11.9 in their order.
    func take(_ payload: [UInt8], from link: PeerLink) throws(Refusal) {
        let count = payload.count > 28 ? payload[28] : 0
        try demand(count <= 32, .flood, "\(count) members")
        if bug != .membersWithoutLimit { try link.countControl() }
        try demand(link.isMesh, "MEMBERS on a direct link")
        try demand(link.memberBucket.take() || bug == .membersWithoutLimit, .flood, "too many MEMBERS")
        let made: (MemberEntry, Held)
        do throws(Refusal) { made = try read(payload) } catch {
            if bug == .entriesUnchecked { return }
            throw error
        }
        let (entry, held) = made
        if entry.endpoint == me { return takeOwn(entry, from: link) }
        guard departed[entry.endpoint] == nil else { return }
        let isFirstHand = entry.endpoint == link.endpoint
        if !isFirstHand, links.contains(where: { $0.endpoint == entry.endpoint }) { return }
        let old = known[entry.endpoint]
        let replaces = isFirstHand && !link.hasEntry
        if isFirstHand { link.hasEntry = true }
        if let old, !replaces, entry.sequence <= old.entry.sequence, bug != .believesOld { return }
        if old?.entry == entry { return }
        guard old != nil || makeRoom() else { return }
        known[entry.endpoint] = Known(entry: entry, held: held)
        if let attempt = session.attempts[entry.endpoint], attempt.isForMesh {
            session.seek(held, isForMesh: true)
        }
        for other in links where other !== link { queue(entry.endpoint, to: other) }
        pour()
    }

    private func read(_ payload: [UInt8]) throws(Refusal) -> (MemberEntry, Held) {
        let entry: MemberEntry
        do throws(Malformed) { entry = try MemberEntry(payload: payload) } catch { throw .broken("\(error)") }
        try demand(entry.list.count <= 31, "\(entry.list.count) members")
        let isSorted = zip(entry.list, entry.list.dropFirst()).allSatisfy { $0.bytes.precedes($1.bytes) }
        try demand(isSorted && !entry.list.contains(entry.endpoint), "a list of members in disorder")
        let data = try DataReader(bug: bug).read(entry.data)
        try demand(data.endpoint == entry.endpoint, "mesh data of another endpoint")
        try demand(
            data.flags & ConnectionData.Flag.mesh != 0 && data.recipient == nil, "data that is no mesh data")
        return (entry, Held(bytes: entry.data, data: data))
    }

    private func takeOwn(_ entry: MemberEntry, from link: PeerLink) {
        guard entry != own, entry.sequence >= highest, entry.sequence < 1 << 31 else { return }
        if bug == .believesForgery {
            own = entry
            highest = entry.sequence
        } else {
            highest = entry.sequence
            own = nil
        }
        if own == nil { _ = makeOwn() }
        for other in links { queue(me, to: other) }
        pour()
    }

    /// A place for one more entry: 32 with the own one.
    private func makeRoom() -> Bool {
        if known.count < 31 { return true }
        let inside = Set(component)
        guard
            let oldest = known.filter({ !inside.contains($0.key) })
                .min(by: { $0.value.outsideSince ?? .now < $1.value.outsideSince ?? .now })
        else { return false }
        known[oldest.key] = nil
        return true
    }

    // MARK: Dialling

    /// An attempt came to nothing.
    func failed(_ endpoint: Endpoint) {
        let failures = (waiting[endpoint]?.failures ?? 0) + 1
        let pause = min(2_000, 1_000 << min(failures - 1, 4))
        waiting[endpoint] = (.now + .milliseconds(Int.random(in: pause / 2...pause * 3 / 2)), failures)
    }

    func tick(_ now: Instant) {
        guard !known.isEmpty else { return }
        let component = component
        let inside = Set(component)
        for (endpoint, one) in known {
            if inside.contains(endpoint) {
                known[endpoint]?.outsideSince = nil
            } else if let since = one.outsideSince {
                if now - since > .seconds(60) { known[endpoint] = nil }
            } else {
                known[endpoint]?.outsideSince = now
            }
        }
        departed = departed.filter { now - $0.value < .seconds(60) }
        met = met.filter { now - $0.value < .seconds(60) }
        for attempt in Array(session.attempts.values)
        where attempt.isForMesh && !inside.contains(attempt.endpoint) {
            sought.remove(attempt.endpoint)
            session.abandon(attempt, "withdrawn", nil, saying: .unknownPeer)
        }
        for endpoint in component { seek(endpoint, now) }
        if bug != .neverLeaves { countMembers(component, now) }
        pour()
    }

    private func seek(_ endpoint: Endpoint, _ now: Instant) {
        guard endpoint.uid != me.uid, session.links[endpoint.uid] == nil, session.attempts[endpoint] == nil,
            let held = known[endpoint]?.held, session.outcome(with: held.data) != .refused,
            session.links.count < session.seats || links.count == session.links.count,
            session.attempts.count < 2 * session.settings.cap,
            waiting[endpoint].map({ $0.until <= now }) ?? true
        else { return }
        let isFirst = sought.insert(endpoint).inserted
        session.seek(held, isForMesh: true, isSilent: !isFirst)
    }

    // MARK: The cap

    /// One too many leaves. Spec 11.8.
    private func countMembers(_ component: [Endpoint], _ now: Instant) {
        let firstHand = links.compactMap { known[$0.endpoint]?.entry }
        let counted = component.filter { endpoint in
            links.contains { $0.endpoint == endpoint } || met[endpoint] != nil
                || Set(firstHand.filter { $0.list.contains(endpoint) }.map(\.endpoint.uid)).count >= 2
        }
        let uids = Set(counted.map(\.uid) + [me.uid]).sorted { $0.precedes($1) }
        guard uids.count > session.settings.cap, let rank = uids.firstIndex(of: me.uid),
            rank >= session.settings.cap
        else {
            tooMany = nil
            return
        }
        let (since, hold) = tooMany ?? (now, .milliseconds(Int.random(in: 1_000...2_000)))
        tooMany = (since, hold)
        if now - since >= hold { session.leave(.full) }
    }

    /// The session begins anew.
    func forget() {
        known = [:]
        own = nil
        highest = 0
        departed = [:]
        met = [:]
        waiting = [:]
        sought = []
        outboxes = [:]
        tooMany = nil
    }
}
