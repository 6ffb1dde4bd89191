package import MultipeerCore
package import MultipeerFraming
package import MultipeerIntroduction
package import MultipeerLink

/// Who is in the mesh, as one member knows it: the entries that members flood, who can be reached over them, whom that
/// makes us connect, and whether there is room. Spec 11.
///
/// Pure: it never reads a clock or a random source, and knows links by number only. After every call the owner carries
/// out `takeActions()` in order and sleeps until `deadline`. What is done is decided when it is taken, so that a link
/// which replaces another in one go makes nobody connect.
package struct Membership: Sendable {
    package enum Action: Equatable, Sendable {
        /// Write this entry on that mesh link.
        case tell(ConnectionID, Members)
        /// Make a link to whoever these data are of, instead of what was sought of the same peer before. `isFirst`: the
        /// application hears that it is connecting.
        case connect(ConnectionData, isFirst: Bool)
        /// Stop seeking: it is no longer in the mesh.
        case withdraw(UID)
        /// The mesh has too many members, and the one at the other end does not go: end this link, telling FULL.
        case dismiss(ConnectionID)
        /// The mesh has too many members, and this one goes: FULL on all links, then a new instance.
        case leave
    }

    let local: Endpoint
    /// Members of the whole mesh at the most, this one included.
    let cap: Int
    var jitter: Jitter
    /// Told by every call that can change anything. Whoever slept through the time in which others had to leave has not
    /// seen whether they did.
    var now = Moment(nanoseconds: 0) {
        didSet {
            isSettled = false
            // [mesh.slept]
            if now > latest + MembershipTiming.gap, !overCapacity.hasLeft { overCapacity = OverCapacity() }
            latest = now
        }
    }
    /// What the last call told, whether anything followed or not.
    private var latest = Moment(nanoseconds: 0)
    /// Nothing has happened since all actions were taken. Finding out what follows looks at every member, and most calls
    /// of a session are none of ours.
    private var isSettled = false
    /// The one of a settled membership.
    private var nextMoment: Moment?
    /// The own entry; nil until data are published.
    var own: Members?
    var graph: MemberGraph
    /// What others say of those to whom there are mesh links, whether an entry of them is held or not, and of `dismissed`.
    var hearsayEntries: [Endpoint: Hearsay] = [:]
    /// To whom a link ended because they, or we, were one too many, and until when nothing of them is believed.
    var dismissed: [Endpoint: Moment] = [:]
    /// Who left, and until when their entries are ignored.
    var departures = ExpiringEndpoints()
    var searches: [Endpoint: MemberDial] = [:]
    var overCapacity = OverCapacity()
    private var hasToldToLeave = false

    /// `peers`: members of the whole mesh at the most. `seed` feeds pauses only.
    package init(_ local: Endpoint, peers: Int = Limits.peers, seed: UInt64) {
        self.local = local
        graph = MemberGraph(local)
        cap = peers
        jitter = Jitter(seed: seed)
    }
}

// MARK: what happens

extension Membership {
    /// The data with which others dial us: made by this endpoint, open, with the MESH flag.
    package mutating func publish(_ data: ConnectionData, at now: Moment) {
        precondition(
            data.isOfMesh(of: local), "mesh data are open, have the MESH flag and are the session's own")
        self.now = now
        renewOwnEntry(data: data.bytes)
        settle()
    }

    /// A link stands. `isMesh`: both ends named data with the MESH flag, and it is encrypted or neither end encrypts.
    package mutating func linked(_ id: ConnectionID, to remote: Endpoint, isMesh: Bool, at now: Moment) {
        self.now = now
        guard remote != local else { return }
        departures.forget(remote)
        dismissed[remote] = nil
        if isMesh { _ = graph.makeRoom(for: remote, isLinked: true, at: now) }
        let failures = searches.removeValue(forKey: remote)?.failures ?? 0
        // The attempt for another instance of the peer ended with what the application sought instead. [mesh.dial]
        endSearch(of: remote.uid, isHopeless: false)
        graph.links[id] = MeshLink(to: remote, isMesh: isMesh, failures: failures, at: now)
        if isMesh {
            renewOwnEntry()
            enqueueEverything(for: id)
        }
        settle()
    }

    /// A link is gone. `hasDeparted`: the other end said that it leaves, GOODBYE or FULL. `isDismissed`: one end let go of the
    /// other.
    package mutating func linkEnded(
        _ id: ConnectionID, hasDeparted: Bool, isDismissed: Bool = false, at now: Moment
    ) {
        self.now = now
        guard let link = graph.links.removeValue(forKey: id) else { return }
        if hasDeparted {
            graph.remove(link.endpoint)  // [mesh.departed]
            hearsayEntries[link.endpoint] = nil
            departures.remember(link.endpoint, until: now + MembershipTiming.departure, at: now)
            graph.meetings.forget(link.endpoint)
        } else if isDismissed || link.isDismissed {
            graph.remove(link.endpoint)  // [mesh.dismiss]
            dismissed[link.endpoint] = now + MembershipTiming.parting
            graph.meetings.forget(link.endpoint)
            overCapacity = OverCapacity()
        } else {
            resume(after: link)
            believeRumour(of: link.endpoint)
        }
        if link.isMesh { renewOwnEntry() }
        settle()
    }

    /// A MEMBERS came on this link.
    package mutating func receive(
        _ entry: Members, on id: ConnectionID, at now: Moment
    ) throws(Violation) {
        self.now = now
        guard let link = graph.links[id] else { return }
        guard link.isMesh else { throw .outOfPlace(.members) }  // [mesh.plain]
        // [mesh.pace]
        guard graph.links[id]?.receiving.consume(at: now) == true else { throw .tooManyEntries }
        let data = try check(entry)
        if entry.origin == local {
            answer(entry)
        } else {
            take(entry, data, from: id)
        }
        settle()
    }

    /// This endpoint has shown that it exists: its HELLO passed every check before the cap, or it said FULL on a
    /// connection that only it could have.
    package mutating func met(_ endpoint: Endpoint, at now: Moment) {
        self.now = now
        graph.meetings.remember(endpoint, until: now + MembershipTiming.meeting, at: now)
        settle()
    }

    /// What `connect` asked for came to nothing; `isHopeless`: with the same data it always will.
    package mutating func attemptEnded(_ uid: UID, isHopeless: Bool, at now: Moment) {
        self.now = now
        endSearch(of: uid, isHopeless: isHopeless)
        settle()
    }

    /// The search for a peer goes on without the mesh having asked for it: the peer was dialling when its link ended.
    package mutating func searchGoesOn(for endpoint: Endpoint, at now: Moment) {
        self.now = now
        keepSearching(for: endpoint)
        settle()
    }

    package mutating func advance(to now: Moment) {
        if isSettled, now <= latest + MembershipTiming.gap, nextMoment.map({ now < $0 }) ?? true {
            latest = now
            return
        }
        self.now = now
        settle()
    }

    /// What follows from the changes, all at once.
    private mutating func settle() {
        believeOfDismissed()
        graph.explore(at: now)
        graph.dropUnreachable(at: now)
        updateOverCapacity()
    }
}

// MARK: what follows

extension Membership {
    package mutating func takeActions() -> [Action] {
        if isSettled { return [] }
        let actions = findActions()
        if actions.isEmpty {
            isSettled = true
            nextMoment = earliest
        }
        return actions
    }

    private mutating func findActions() -> [Action] {
        if overCapacity.hasLeft {
            defer { hasToldToLeave = true }
            return hasToldToLeave ? [] : [.leave]
        }
        return connectMissingMembers() + tellWhatIsDue() + dismissWhoShouldGo()
    }

    /// When `advance` or `takeActions` has something to do without anything happening.
    package var deadline: Moment? { isSettled ? nextMoment : earliest }

    private var earliest: Moment? {
        guard !overCapacity.hasLeft else { return nil }
        return [flooding, graph.purging, searching, leaving, dismissed.values.min()].compactMap { $0 }.min()
    }

    /// The mesh as far as it is known, by uid, without the local endpoint.
    package var component: [Endpoint] { graph.reached.sorted(by: <) }

    /// Every entry held, the own one included, by origin.
    package var entries: [Members] {
        (graph.database.values.map(\.entry) + [own].compactMap { $0 }).sorted { $0.origin < $1.origin }
    }
}
