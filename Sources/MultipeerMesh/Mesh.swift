package import MultipeerCore
package import MultipeerFraming
package import MultipeerHandshake
package import MultipeerLink
package import MultipeerSecurity

/// Everything that one instance of a session decides about its peers: which are connecting, which are linked, which others
/// are in the mesh, and what is reported to the application. Spec 6, 11 and 14.
///
/// Pure: connections are numbers, time and randomness are inputs. After every call the owner carries out
/// `takeActions()` in order, until there are none, and sleeps until `deadline`. The owner holds the links themselves.
package struct Mesh: Sendable {
    package enum Action: Equatable, Sendable {
        case dial(ConnectionID, Candidate, accepting: CertificatePin?)
        /// Whole frames, on a connection that is not a link yet.
        case send(ConnectionID, [UInt8])
        /// Send the code to the peer if the channel is up, then end the connection. No further call refers to it.
        case close(ConnectionID, CloseCode)
        /// Ask whether the holder of this connection's key may be linked. Answered with `decide`, once for each peer
        /// and key.
        case ask(UID, ConnectionID)
        /// The connection is a link from now on; `remote` are the limits of the peer's HELLO.
        case link(ConnectionID, ConnectionData, remote: LinkLimits, isMesh: Bool)
        /// End this link now, and call `linkEnded` before anything else.
        case end(ConnectionID, DisconnectReason, telling: CloseCode)
        /// Probe the link to check whether its peer still responds.
        case probe(ConnectionID)
        /// Write this entry on this link.
        case tell(ConnectionID, Members)
        /// Report this state to the application.
        case state(PeerID, PeerState)
        /// An attempt has ended, with a link when there is no reason. Once for each.
        case settled(UID, DisconnectReason?)
        /// The mesh has too many members, and this one leaves: end all links with FULL and begin a new instance.
        /// [mesh.evict]
        case leave
        /// Renew our mesh data: those that the members hold expire some time later. [mesh.data]
        case renew
    }

    package let local: LocalPeer
    /// The interfaces on which link-local addresses are tried.
    package var zones: [UInt32] = []

    var linkEstablishment: LinkEstablishment
    var membership: Membership
    var roster: PeerStateTable
    var names: [UID: PeerID] = [:]
    /// Peers that only the mesh connects, not the application.
    var introduced: Set<UID> = []
    /// Whether no attempt to another member begins, because too many events are unread. [limit.events]
    package var holdsIntroductions = false
    /// Links on which an entry was received: their peers have established them, too.
    var informants: Set<ConnectionID> = []
    /// When our mesh data are to be renewed; nil before the first.
    var renewal: Moment?
    /// Whether members hold mesh data of ours.
    package var hasData: Bool { renewal != nil }
    var isLeaving = false
    /// Set by every call that can change anything.
    var now = Moment(nanoseconds: 0) { didSet { isSettled = false } }
    /// Whether nothing has happened since all consequences were carried out. Most turns of a session carry only payload.
    package internal(set) var isSettled = false
    /// The deadline of a settled mesh.
    package internal(set) var settledDeadline: Moment?
    var actions: [Action] = []
    /// Actions of the link establishment that are not processed yet. They wait for an `end` to be carried out, because what
    /// the application is notified of depends on that.
    var undone: [LinkEstablishment.Action] = []

    /// Creates a mesh without peers. `seed` feeds jitter, holds and GREASE, nothing secret. `peers`: the maximum number of
    /// peers in the mesh, including the local one; links are one fewer. `last`: the last connection of the previous instance,
    /// so that no number is reused.
    package init(_ local: LocalPeer, peers: Int = Limits.peers, seed: UInt64, after last: UInt32 = 0) {
        self.local = local
        linkEstablishment = LinkEstablishment(local, maximumLinks: peers - 1, seed: seed, after: last)
        membership = Membership(
            local.endpoint, peers: peers, signer: local.signer, verifier: local.verifier, seed: ~seed)
        roster = PeerStateTable(maximumLinks: peers - 1)
    }

    package mutating func takeActions() -> [Action] {
        if isSettled { return [] }
        settle()
        defer { actions = [] }
        return actions
    }

    package var deadline: Moment? { isSettled ? settledDeadline : earliest }

    var earliest: Moment? { .earlier(linkEstablishment.deadline, .earlier(membership.deadline, renewal)) }

    package mutating func advance(to now: Moment) {
        if isSettled, settledDeadline.map({ now < $0 }) ?? true { return }
        self.now = now
        linkEstablishment.advance(to: now)
        membership.advance(to: now)
        guard let renewal, renewal <= now else { return }
        self.renewal = nil
        actions.append(.renew)
    }

    package var lastConnection: UInt32 { linkEstablishment.lastConnection }
}

// MARK: requests of the application

extension Mesh {
    /// Issues connection data. `token`: 32 random bytes, used when a new token is needed. Data with the flag `mesh` and no
    /// recipient are also flooded to the members of the mesh. `lifetime`: of new data for others, in whole seconds.
    package mutating func connectionData(
        for recipient: UID?, candidates: [Candidate], flags: ConnectionData.Flags = [], token: [UInt8],
        lifetime: Duration = HandshakeTiming.lifetime, at now: Moment
    ) throws(InvalidConnectionData) -> ConnectionData {
        self.now = now
        let data = try linkEstablishment.connectionData(
            for: recipient, candidates: candidates, flags: flags, token: token, lifetime: lifetime, at: now)
        if recipient == nil, flags.contains(.mesh) {
            renewal = now + HandshakeTiming.meshRenewal
            membership.publish(data, at: now)
        }
        return data
    }

    /// Starts connecting to the peer of `data`; returns false when it is already linked or connecting with the same
    /// data.
    package mutating func connect(
        with data: ConnectionData, within timeout: Duration = HandshakeTiming.attempt, at now: Moment
    ) throws(LinkEstablishment.Refusal) -> Bool {
        self.now = now
        let hasStarted = try linkEstablishment.connect(with: data, zones: zones, within: timeout, at: now)
        introduced.remove(data.peer.uid)
        if hasStarted || linkEstablishment[data.peer.uid]?.isConnecting == true {
            names[data.peer.uid] = data.peer
            note(.connectRequested, of: data.peer.uid)
        }
        return hasStarted
    }

    /// Postpones the renewal of our mesh data, which failed.
    package mutating func postponeRenewal() { renewal = now + Mesh.renewalPause }

    private static let renewalPause = Duration.seconds(60)

    /// Stops connecting to a peer; does nothing for a linked one.
    package mutating func cancel(_ uid: UID, at now: Moment) {
        self.now = now
        linkEstablishment.cancel(uid, at: now)
    }

    /// Cancels every attempt, because the session leaves. The owner closes the links.
    package mutating func cancelAll(at now: Moment) {
        self.now = now
        linkEstablishment.cancelAll(at: now)
        isLeaving = true
    }
}

// MARK: input from the network

extension Mesh {
    package var acceptedPins: [CertificatePin] { linkEstablishment.acceptedPins }
    package var awaitsPlain: Bool { linkEstablishment.awaitsPlain }

    package mutating func accepted(at now: Moment) -> ConnectionID {
        self.now = now
        return linkEstablishment.accepted(at: now)
    }

    package mutating func connected(_ id: ConnectionID, at now: Moment) {
        self.now = now
        linkEstablishment.connected(id, at: now)
    }

    package mutating func secured(
        _ id: ConnectionID, _ channel: SecuredChannel, nonce: [UInt8], at now: Moment
    ) {
        self.now = now
        linkEstablishment.meshSnapshot = membership.snapshot(at: now)
        linkEstablishment.secured(id, channel, nonce: nonce, at: now)
    }

    package mutating func receive(
        _ id: ConnectionID, _ header: FrameHeader, _ payload: Span<UInt8>, at now: Moment
    ) {
        self.now = now
        if header.kind == .hello { linkEstablishment.meshSnapshot = membership.snapshot(at: now) }
        linkEstablishment.receive(id, header, payload, at: now)
    }

    package mutating func violated(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        self.now = now
        linkEstablishment.violated(id, code, at: now)
    }

    package mutating func lost(_ id: ConnectionID, _ connectionFailure: ConnectionFailure, at now: Moment) {
        self.now = now
        linkEstablishment.lost(id, connectionFailure, at: now)
    }

    package mutating func decide(
        _ uid: UID, asked connection: ConnectionID? = nil, isTrusted: Bool, at now: Moment
    ) {
        self.now = now
        linkEstablishment.decide(uid, asked: connection, isTrusted: isTrusted, at: now)
    }

    package func phase(of id: ConnectionID) -> Handshake.Phase? { linkEstablishment.phase(of: id) }
    package func showsIdentity(_ uid: UID) -> Bool { linkEstablishment[uid]?.showsIdentity == true }
    package func awaits(_ uid: UID) -> Bool { linkEstablishment[uid] != nil }
    /// Returns how many expected or linked peers have connection data with this address. [limit.unauthenticated]
    package func expectedPeers(at address: [UInt8]) -> Int { linkEstablishment.expectedPeers(at: address) }
    /// Returns whether there is room for a link to `uid` here, and for the peer in the mesh.
    package func hasRoom(for uid: UID) -> Bool {
        linkEstablishment.hasLinkCapacity(besides: uid)  // [limit.links]
            && linkEstablishment.meshSnapshot.hasRoom(for: uid)
    }
    package func isLinked(to endpoint: Endpoint) -> Bool {
        linkEstablishment[endpoint.uid]?.isLinked(to: endpoint) == true
    }
    package func isConfirmed(_ id: ConnectionID) -> Bool { linkEstablishment.isConfirmed(id) }
    /// Sets whether the application has too many unread events of a peer: then no link to it may begin. [limit.relink]
    package mutating func setUnread(_ isTooMuch: Bool, of uid: UID) {
        linkEstablishment.setUnread(isTooMuch, of: uid)
    }
}

// MARK: input from links

extension Mesh {
    /// Handles the end of the link to `uid`. `wasUsed`: the peer has shown that it had established the link, too.
    package mutating func linkEnded(
        _ id: ConnectionID, of uid: UID, _ reason: DisconnectReason, wasUsed: Bool, at now: Moment
    ) {
        self.now = now
        // A peer that received SELECTED too late, or never, sends TIMEOUT. [link.timeouts]
        let hasTold = informants.remove(id) != nil
        let mayResume = (reason.code == .lost || reason.closeCode == .timeout) && !wasUsed && !hasTold
        let hasDeparted = reason.hasDeparted(hasTold: hasTold)
        let isDismissal = reason.isDismissal(hasTold: hasTold)
        let isOver = hasDeparted || isDismissal
        linkEstablishment.linkEnded(id, of: uid, mayResume: mayResume, hasDeparted: isOver, at: now)
        membership.linkEnded(
            id, hasDeparted: hasDeparted, isDismissed: isDismissal, isLost: reason.isLoss, at: now)
        // The peer's DUPLICATE means that it has another link, which this end may have lost.
        note(reason.isReplacement ? .superseded : .linkEnded(reason), of: uid)
    }

    package mutating func probeAnswered(by uid: UID, at now: Moment) {
        self.now = now
        linkEstablishment.probeAnswered(by: uid, at: now)
    }

    /// Handles a MEMBERS; returns the violation, if the link has to end because of it.
    package mutating func membersArrived(
        _ entry: Members, on id: ConnectionID, at now: Moment
    ) -> Violation? {
        self.now = now
        informants.insert(id)
        do throws(Violation) {
            try membership.receive(entry, on: id, at: now)
            return nil
        } catch {
            return error
        }
    }
}

// MARK: facts

extension Mesh {
    /// Returns the name of a peer that is connecting or linked.
    package func name(of uid: UID) -> PeerID? { names[uid] }
    package func state(of uid: UID) -> PeerStateMachine.State { roster.state(of: uid) }
    package func peers(_ state: PeerStateMachine.State) -> [UID] { roster.peers(state) }
    /// The members of the mesh besides the local peer, in the order of their ids.
    package var component: [Endpoint] { membership.component }
    package var entries: [Members] { membership.entries }
    /// Returns the end of the last pause of this address, which has not answered dials to a member that was never met; nil if
    /// there is no such pause. [mesh.introduced]
    package func pauseEnd(of address: Candidate, for member: Endpoint) -> Moment? {
        membership.introducer(of: member).flatMap { _ in linkEstablishment.pauseEnd(of: address) }
    }
}
