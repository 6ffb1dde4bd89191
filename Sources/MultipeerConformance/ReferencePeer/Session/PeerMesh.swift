/// The members of a session's mesh: their entries, the peers that it reaches, and those to which it connects. Spec 11.
final class PeerMesh {
    /// A stored entry.
    struct StoredEntry {
        let entry: MemberEntry
        let held: ReceivedConnectionData
        let since = Instant.now
        /// Whether it was learnt of later than another.
        let number: Int
        var outsideSince: Instant?
    }

    unowned let session: PeerSession
    var known: [Endpoint: StoredEntry] = [:]
    /// How many entries of endpoints that were not known have come.
    var learnt = 0
    var own: MemberEntry?
    var highest: UInt32 = 0
    var departed: [Endpoint: Instant] = [:]
    /// The members whose links were ended because the mesh is too large.
    var dismissed: [Endpoint: Instant] = [:]
    /// Entries from others about members to which this one is linked, or which it has evicted.
    var aside: [Endpoint: (MemberEntry, ReceivedConnectionData)] = [:]
    var met: [Endpoint: Instant] = [:]
    var everMet: Set<Endpoint> = []
    /// The dials to members that were never met.
    var introducedDials = FrameTokenBucket(size: 24, perSecond: 1)
    /// The addresses at which nothing answered, and until when they are not dialled because of entries alone.
    var silent: [Candidate: Instant] = [:]
    var waiting: [Endpoint: (until: Instant, failures: Int)] = [:]
    var reported: Set<Endpoint> = []
    /// The members that were dialling when their links ended, and until when they may go on. Spec 11.6.
    var callers: [Endpoint: Instant] = [:]
    /// The members whose links were lost, and until when they are dialled. Spec 11.6, `mesh.missed`.
    var missed: [Endpoint: Instant] = [:]
    /// In how many attempts each of them did not know this session.
    var refusals: [Endpoint: Int] = [:]
    private var outboxes: [Endpoint: (queue: [Endpoint], bucket: FrameTokenBucket)] = [:]
    var excess = OverCapacity()
    private var firstSignature: [UInt8] = []

    init(_ session: PeerSession) { self.session = session }

    var bug: Bug? { session.bug }
    var me: Endpoint { session.endpoint }
    var links: [PeerLink] { session.links.values.filter(\.isMesh) }

    func isMesh(_ held: ReceivedConnectionData, _ mine: IssuedConnectionData, isPlain: Bool) -> Bool {
        let isOpen = session.preference == .none && held.data.preference == .none
        guard !isPlain || isOpen || bug == .tellsOverPlain else { return false }
        return bug == .introducesManual || (mine.isMesh && held.data.flags & ConnectionData.Flag.mesh != 0)
    }

    // MARK: Component

    /// The endpoints that the session reaches, itself not counted. Spec 11.2.
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

    /// Makes check 11 of 6.2.
    func checkRoom(for endpoint: Endpoint, _ members: [[UInt8]]) throws(ProtocolError) {
        met[endpoint] = .now
        everMet.insert(endpoint)
        let component = component
        if component.contains(endpoint), members.contains(me.bytes) { return }
        let known = bug == .countsInvented ? component.map(\.uid) : counted(component)
        let uids = Set(known + members.map { Array($0.prefix(16)) } + [me.uid, endpoint.uid])
        try demand(uids.count <= session.settings.cap, .full, "the mesh has no room")
    }

    /// The members that a HELLO to `receiver` lists.
    func listed(for receiver: Endpoint) -> [Endpoint] {
        let component = component
        if bug == .helloListsInvented { return component }
        let counted = counted(component)
        return component.filter { counted.contains($0.uid) || $0 == receiver }
    }

    // MARK: Sending entries

    func makeOwn() -> MemberEntry {
        let list = links.map(\.endpoint).sorted { $0.bytes.precedes($1.bytes) }
        let lifetime = bug == .meshDataShort ? 600 : 86_400
        let data = session.issued.data(for: nil, isMesh: true, lifetime: lifetime).bytes
        if let own, own.list == list, own.data == data, own.sequence >= highest { return own }
        highest += 1
        var made = MemberEntry(me, highest, list: list, data: data)
        made.sign(with: session.identity)
        if bug == .signsOnce {
            if firstSignature.isEmpty { firstSignature = made.signature }
            made.signature = firstSignature
        }
        own = made
        return made
    }

    /// Handles a new link: sends everything on it, and on all others that it exists.
    func linked(_ link: PeerLink) {
        guard link.isMesh else { return }
        departed[link.endpoint] = nil
        dismissed[link.endpoint] = nil
        let key = link.held[0].data.fingerprint
        if known[link.endpoint].map({ $0.held.data.fingerprint != key }) == true {
            known[link.endpoint] = nil
        }
        if aside[link.endpoint].map({ $0.1.data.fingerprint != key }) == true { aside[link.endpoint] = nil }
        waiting[link.endpoint] = nil
        reported.remove(link.endpoint)
        missed = missed.filter { $0.key.uid != link.uid }
        refusals[link.endpoint] = nil
        outboxes[link.endpoint] = ([], FrameTokenBucket(size: 32, perSecond: 15))
        tellOwn()
        for endpoint in known.keys { queue(endpoint, to: link) }
        pour()
    }

    func unlinked(_ link: PeerLink, _ reason: String, _ code: CloseCode?) {
        guard link.isMesh else { return }
        outboxes[link.endpoint] = nil
        noteCaller(link.endpoint)
        if reason == "closedByPeer", code == .goodbye || (code == .full && link.hasEntry) {
            known[link.endpoint] = nil
            departed[link.endpoint] = .now
            missed[link.endpoint] = nil
        } else if bug != .forgetsLost, known[link.endpoint] != nil {
            let isLost = ["lost", "timeout", "superseded"].contains(reason)
            if isLost || [.timeout, .duplicate, .flow].contains(code) {
                missed[link.endpoint] = .now + .seconds(600)
            }
        }
        if bug == .missesDeparted, code == .goodbye { missDeparted(link) }
        // Evicted by the others: entries about this peer may come back to it later. Spec 11.8.
        let isSentAway = code == .unknownPeer && (reason == "closedByPeer" || reason == "withdrawn")
        if isSentAway { setAside(link.endpoint) } else { takeUp(link.endpoint) }
        if reason != "left", reason != "full" { tellOwn() }
    }

    private func missDeparted(_ link: PeerLink) {
        guard let held = link.held.first else { return }
        let entry = MemberEntry(link.endpoint, 0, list: [], data: held.bytes)
        known[link.endpoint] = StoredEntry(entry: entry, held: held, number: learnt)
        missed[link.endpoint] = .now + .seconds(600)
    }

    private func tellOwn() {
        let before = own
        guard makeOwn() != before || !links.isEmpty else { return }
        for link in links { queue(me, to: link) }
        pour()
    }

    func queue(_ endpoint: Endpoint, to link: PeerLink) {
        guard endpoint != link.endpoint, bug != .neverIntroduces else { return }
        guard var outbox = outboxes[link.endpoint], !outbox.queue.contains(endpoint) else { return }
        if endpoint == me { outbox.queue.insert(endpoint, at: 0) } else { outbox.queue.append(endpoint) }
        outboxes[link.endpoint] = outbox
    }

    /// Sends the entries that wait, as fast as the token bucket of each link allows. Spec 11.5.
    func pour() {
        for link in links {
            while var outbox = outboxes[link.endpoint], let next = outbox.queue.first, outbox.bucket.take() {
                outbox.queue.removeFirst()
                outboxes[link.endpoint] = outbox
                if let entry = next == me ? own : known[next]?.entry { link.send(entry.frame) }
            }
        }
    }

    /// Clears everything for a new start of the session.
    func forget() {
        known = [:]
        own = nil
        highest = 0
        departed = [:]
        met = [:]
        waiting = [:]
        reported = []
        callers = [:]
        missed = [:]
        refusals = [:]
        outboxes = [:]
        excess = OverCapacity()
        dismissed = [:]
        aside = [:]
        firstSignature = []
    }
}
