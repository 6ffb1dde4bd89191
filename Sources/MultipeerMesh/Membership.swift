package import MultipeerCore
package import MultipeerFraming
package import MultipeerHandshake
package import MultipeerLink
package import MultipeerSecurity

/// The membership of the mesh, as one member knows it: the entries that members flood, the members reachable over them,
/// those to which to connect, and whether there is room. Spec 11.
///
/// Pure: it never reads a clock or a random source, and knows links by number only. After every call the owner carries
/// out `takeActions()` in order and sleeps until `deadline`. Actions are decided when they are taken, so that a link
/// which replaces another in one step causes no attempt to connect.
package struct Membership: Sendable {
    package enum Action: Equatable, Sendable {
        /// Write this entry on that mesh link.
        case tell(ConnectionID, Members)
        /// Connect to the peer of these data, in place of an earlier attempt to the same peer. `isFirst`: the
        /// application is notified that the peer is connecting.
        case connect(ConnectionData, isFirst: Bool)
        /// Stop connecting: the peer is no longer in the mesh.
        case withdraw(UID)
        /// Go on connecting, silently: the application is notified that the peer is no longer in the mesh.
        case hide(UID)
        /// The mesh has too many members, and the one at the other end does not leave: end this link with FULL.
        case dismiss(ConnectionID)
        /// The mesh has too many members, and this one leaves: FULL on all links, then a new instance.
        case leave
    }

    let local: Endpoint
    /// The maximum number of members of the whole mesh, including this one.
    let cap: Int
    /// Signs our own entry; nil without a key.
    let signer: Signer?
    let verifier: SignatureVerifier
    /// Keys that have verified entries, by their certificates: members send their certificate with each entry.
    var verificationKeys: [[UInt8]: VerificationKey] = [:]
    /// The fingerprint of our certificate.
    let key: Fingerprint?
    var jitter: Jitter
    /// Set by every call that can change anything. A member that was suspended while others had to leave does not know
    /// whether they did.
    var now = Moment(nanoseconds: 0) {
        didSet {
            isSettled = false
            // [mesh.suspended]
            if now > latest + MembershipTiming.gap, !overCapacity.hasLeft { overCapacity = OverCapacity() }
            latest = now
        }
    }
    /// The time of the last call, whether or not it had an effect.
    private var latest = Moment(nanoseconds: 0)
    /// Whether nothing has happened since all actions were taken. Deciding the consequences visits every member, and
    /// most calls of a session do not concern the membership.
    private var isSettled = false
    /// The deadline of a settled membership.
    private var nextMoment: Moment?
    /// Our own entry; nil until data are published.
    var own: Members?
    var graph: MemberGraph
    /// What others report of endpoints with mesh links, whether or not their own entry is stored, and of `dismissed`.
    var hearsayEntries: [Endpoint: Hearsay] = [:]
    /// Endpoints whose link ended because they, or we, were one too many, and until when entries about them are not
    /// used.
    var dismissed: [Endpoint: Moment] = [:]
    /// Endpoints that left, and until when their entries are ignored.
    var departures = ExpiringEndpoints()
    var searches: [Endpoint: MemberDial] = [:]
    var overCapacity = OverCapacity()
    private var hasToldToLeave = false

    /// Creates a membership without links. `peers`: the maximum number of members of the whole mesh. `signer`: signs our own
    /// entry, and nil means that no member signs. `seed` feeds pauses only.
    package init(
        _ local: Endpoint, peers: Int = Limits.peers, signer: Signer? = nil,
        verifier: SignatureVerifier = .standard, seed: UInt64
    ) {
        self.local = local
        graph = MemberGraph(local)
        cap = peers
        self.signer = signer
        self.verifier = verifier
        key = signer.flatMap { Membership.key(of: $0.certificate) }
        jitter = Jitter(seed: seed)
    }
}

// MARK: input

extension Membership {
    /// Publishes the data with which others dial us: issued by this endpoint, open to any peer, with the MESH flag.
    package mutating func publish(_ data: ConnectionData, at now: Moment) {
        precondition(
            data.isOfMesh(of: local), "mesh data are open, have the MESH flag and are the session's own")
        self.now = now
        renewOwnEntry(data: data.bytes)
        settle()
    }

    /// Handles a new link. `isMesh`: both ends named data with the MESH flag, and it is encrypted or neither end
    /// encrypts. `key`: the key that the data of `remote` name.
    package mutating func linked(
        _ id: ConnectionID, to remote: Endpoint, isMesh: Bool, key: Fingerprint? = nil, at now: Moment
    ) {
        self.now = now
        guard remote != local else { return }
        departures.forget(remote)
        dismissed[remote] = nil
        graph.stopMissing(remote)
        if isMesh { dropEntries(of: remote, except: key) }
        if isMesh { _ = graph.makeRoom(for: remote, isLinked: true, at: now) }
        searches[remote] = nil
        // The attempt for another instance of the peer ended with what the application requested instead. [mesh.dial]
        endSearch(of: remote.uid, .failed, isHopeless: false, isUntried: false)
        graph.links[id] = MeshLink(to: remote, isMesh: isMesh, key: key, at: now)
        graph.everMet.remember(remote, until: now + MembershipTiming.everMet, at: now)
        if isMesh {
            renewOwnEntry()
            enqueueEverything(for: id)
        }
        settle()
    }

    /// Handles the end of a link. `hasDeparted`: the other end announced that it leaves, with GOODBYE or FULL. `isDismissed`:
    /// one end dismissed the other. `isLost`: neither end wanted it.
    package mutating func linkEnded(
        _ id: ConnectionID, hasDeparted: Bool, isDismissed: Bool = false, isLost: Bool = false, at now: Moment
    ) {
        self.now = now
        guard let link = graph.links.removeValue(forKey: id) else { return }
        if hasDeparted {
            graph.stopMissing(link.endpoint)
            graph.remove(link.endpoint)  // [mesh.departed]
            hearsayEntries[link.endpoint] = nil
            departures.remember(link.endpoint, until: now + MembershipTiming.departure, at: now)
            graph.meetings.forget(link.endpoint)
        } else if isDismissed || link.isDismissed {
            graph.remove(link.endpoint)  // [mesh.dismiss]
            dismissed[link.endpoint] = now + MembershipTiming.setAside
            graph.meetings.forget(link.endpoint)
            overCapacity = OverCapacity()
        } else {
            resume(after: link)
            useHearsay(of: link.endpoint)
            if isLost, link.isMesh {  // [mesh.missed]
                graph.miss(link.endpoint, until: now + MembershipTiming.missed)
            }
        }
        if link.isMesh { renewOwnEntry() }
        settle()
    }

    /// Handles a MEMBERS on this link.
    package mutating func receive(
        _ entry: Members, on id: ConnectionID, at now: Moment
    ) throws(Violation) {
        self.now = now
        guard let link = graph.links[id] else { return }
        guard link.isMesh else { throw .outOfPlace(.members) }  // [mesh.plain]
        // [mesh.rate-limit]
        guard graph.links[id]?.receiving.consume(at: now) == true else { throw .tooManyEntries }
        let data = try check(entry)
        guard try isOfItsKey(data, on: link) else { return settle() }  // [mesh.one-key]
        if isNews(entry, on: link, id) { try verify(entry) }
        if entry.origin == local {
            answer(entry)
        } else {
            take(entry, data, from: id)
        }
        settle()
    }

    /// Handles an endpoint that has shown that it exists: its HELLO passed every check before the cap, or it sent FULL
    /// on a connection that only it could have.
    package mutating func met(_ endpoint: Endpoint, at now: Moment) {
        self.now = now
        graph.meetings.remember(endpoint, until: now + MembershipTiming.meeting, at: now)
        graph.everMet.remember(endpoint, until: now + MembershipTiming.everMet, at: now)
        settle()
    }

    /// Returns the member whose entries alone led to this endpoint; nil for one that was met at some time, whose dials are not
    /// limited. [mesh.introduced]
    package func introducer(of endpoint: Endpoint) -> UID? {
        if graph.everMet.holds(endpoint, at: now) { return nil }
        return graph.database[endpoint].flatMap { graph.links[$0.link]?.endpoint.uid } ?? local.uid
    }

    /// How an attempt ended without a link.
    package enum AttemptEnd: Sendable {
        /// It was cancelled, or did not even begin.
        case failed
        case timedOut
        /// It timed out, and the peer had answered that it does not expect this one.
        case unexpected
        /// One of the two has no room.
        case full
        /// One of the two does not want the other.
        case refused
    }

    /// Handles the failure of a `connect`; `isHopeless`: it will always fail with the same data. `isUntried`: it would have been
    /// the first, and there was no room for a link.
    package mutating func attemptEnded(
        _ uid: UID, _ end: AttemptEnd = .failed, isHopeless: Bool, isUntried: Bool = false, at now: Moment
    ) {
        self.now = now
        endSearch(of: uid, end, isHopeless: isHopeless, isUntried: isUntried)
        settle()
    }

    /// Returns whether an endpoint is dialled only because its link was lost, and not as a member. [mesh.missed]
    package func isCutOff(_ endpoint: Endpoint) -> Bool { graph.isCutOff(endpoint) }

    /// Handles an attempt that continues without a request of the mesh: the peer was dialling when its link ended.
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

    /// Determines all consequences of the changes.
    private mutating func settle() {
        useHearsayOfDismissed()
        graph.explore(at: now)
        graph.dropUnreachable(at: now)
        updateOverCapacity()
    }
}

// MARK: consequences

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

    /// The time at which `advance` or `takeActions` has an effect without further input.
    package var deadline: Moment? { isSettled ? nextMoment : earliest }

    private var earliest: Moment? {
        guard !overCapacity.hasLeft else { return nil }
        return .earlier(
            .earlier(flooding, graph.purging), .earlier(searching, .earlier(leaving, dismissed.values.min())))
    }

    /// Whether this member, and every other of its mesh, has a key.
    package var isKeyed: Bool { signer != nil }

    /// The known members of the mesh, by uid, without the local endpoint.
    package var component: [Endpoint] { graph.component }

    /// Every stored entry, including our own one, by origin.
    package var entries: [Members] {
        (graph.database.values.map(\.entry) + [own].compactMap { $0 }).sorted { $0.origin < $1.origin }
    }
}
