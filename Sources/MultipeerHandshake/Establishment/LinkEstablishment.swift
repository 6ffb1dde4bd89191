package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// Every attempt of a session: which peers are expected, which connection belongs to which peer, and which becomes the
/// link. Spec 6.
///
/// Pure: connections are numbers, time and randomness are inputs. After every call the owner carries out
/// `takeActions()` in order and sleeps until `deadline`.
package struct LinkEstablishment: Sendable {
    package enum Action: Equatable, Sendable {
        case dial(ConnectionID, Candidate, accepting: CertificatePin?)
        case send(ConnectionID, [UInt8])
        /// Send the code to the peer if the channel is up, then end the connection. No further call refers to it.
        case close(ConnectionID, CloseCode)
        /// Ask whether the holder of this connection's key may be linked. Answered with `decide`, once for each peer
        /// and key.
        case ask(UID, ConnectionID)
        /// The connection is the link from now on; `remote` are the limits of the peer's HELLO.
        /// `isMesh`: entries of the mesh travel on it. Spec 11.1.
        case link(ConnectionID, ConnectionData, remote: LinkLimits, isMesh: Bool)
        /// This endpoint exists and holds its key, whether or not a link follows. [mesh.counted]
        case met(Endpoint)
        /// A link ended in favour of a newer connection.
        case supersede(ConnectionID)
        /// A link did not respond to the probe.
        case unanswered(ConnectionID)
        case probe(ConnectionID)
        /// The attempt to another instance continues, or a candidate replaces a link that did not respond.
        case connect(UID)
        /// The attempt continues, silently: its link was lost before the peer used it, or while the peer was dialling. It may be
        /// gone.
        case resume(UID)
        case fail(UID, LinkAttemptFailure)
    }

    package enum Refusal: Error, Equatable, Sendable {
        case itself, anotherRecipient, incompatible, tooManyExpectedPeers, full, nothingIssued
    }

    package let local: LocalPeer
    var issuer = ConnectionDataIssuer()
    var attempts: [UID: LinkAttempt] = [:] { didSet { isChanged = true } }
    var declined = DeclinedPeers()
    var introducedDials = IntroducedDials()
    var connections: HandshakeTable { didSet { isChanged = true } }
    /// Whether attempts or connections changed since `nextMoment` was computed.
    private var isChanged = false
    private var nextMoment: Moment?
    /// Peers that may not be linked again until the application has read more of their events. [limit.relink]
    var unread: Set<UID> = []
    var jitter: Jitter
    var actions: [Action] = []
    let maximumLinks: Int
    /// The members of the mesh: set by the owner, listed in HELLO.
    package var meshSnapshot: MeshSnapshot

    static let expectedPeerLimit = 32

    /// Creates the establishment of a session without peers. `seed` feeds jitter and GREASE, nothing secret.
    /// `maximumLinks`: the maximum number of links. `last`: the last connection of the previous instance, so that no
    /// number is reused.
    package init(
        _ local: LocalPeer, maximumLinks: Int = Limits.peers - 1, seed: UInt64, after last: UInt32 = 0
    ) {
        self.local = local
        meshSnapshot = MeshSnapshot(local.endpoint.uid, limit: maximumLinks + 1)
        connections = HandshakeTable(after: last)
        self.maximumLinks = maximumLinks
        jitter = Jitter(seed: seed)
    }

    package mutating func takeActions() -> [Action] {
        if isChanged {
            nextMoment = earliest
            isChanged = false
        }
        if actions.isEmpty { return [] }
        defer { actions = [] }
        return actions
    }

    package var deadline: Moment? { isChanged ? earliest : nextMoment }

    private var earliest: Moment? {
        .earlier(attempts.values.lazy.compactMap(\.nextMoment).min(), connections.deadline)
    }
}

// MARK: phases

extension LinkEstablishment {
    /// Returns the phase of a connection; nil once it is the link or has ended.
    package func phase(of id: ConnectionID) -> Handshake.Phase? { connections[id]?.handshake.phase }

    /// Returns whether a connection has received the CONFIRM of an expected peer and is not a link yet.
    package func isConfirmed(_ id: ConnectionID) -> Bool { connections[id]?.isConfirmed == true }

    /// The attempt of a peer; nil for a peer that is neither connecting nor linked.
    package subscript(uid: UID) -> LinkAttempt? { attempts[uid] }

    /// Returns the end of the last pause of an address that has not answered an introduced dial. [mesh.introduced]
    package func pauseEnd(of address: Candidate) -> Moment? { introducedDials.pauseEnd(of: address) }

    package var lastConnection: UInt32 { connections.last }

    /// Continues with another number, as after many connections: for tests.
    package mutating func renumber(after last: UInt32) { connections.last = last }

    /// The connections that are links.
    var links: some Sequence<ConnectionID> {
        attempts.values.lazy.compactMap { $0.selection.link }
    }
}

// MARK: requests of the application

extension LinkEstablishment {
    /// Issues connection data. `token`: 32 random bytes, used when a new token is needed. `lifetime`: of new data, in
    /// whole seconds.
    package mutating func connectionData(
        for recipient: UID?, candidates: [Candidate], flags: ConnectionData.Flags = [], token: [UInt8],
        lifetime: Duration = HandshakeTiming.lifetime, at now: Moment
    ) throws(InvalidConnectionData) -> ConnectionData {
        var flags = flags
        if local.hasIdentity { flags.insert(.identity) }
        let data = try issuer.data(
            for: recipient, as: local, flags: flags, candidates: candidates, token: token,
            grease: jitter.next(), lifetime: lifetime, isInUse: { attempts[$0] != nil }, at: now)
        return data
    }

    /// Starts connecting to the peer of `data`; returns false when it is already linked or connecting with the same data.
    /// `zones`: the interfaces on which link-local addresses are tried. `needsLinkCapacity`: false for a peer to be contacted
    /// even if there is no room for a link. `introducer`: the member whose entries alone led to the peer, for one that was never met.
    ///
    /// Data of another instance of a linked peer start a separate attempt: it may fail while the link stays up.
    package mutating func connect(
        with data: ConnectionData, zones: [UInt32], within timeout: Duration = HandshakeTiming.attempt,
        needsLinkCapacity: Bool = true, introducer: UID? = nil, at now: Moment
    ) throws(Refusal) -> Bool {
        let uid = data.peer.uid
        guard uid != local.endpoint.uid else { throw .itself }  // [data.self]
        guard data.recipient == nil || data.recipient == local.endpoint.uid else {
            throw .anotherRecipient  // [data.recipient]
        }
        let outcome = local.outcome(with: data)
        guard outcome != .refused else { throw .incompatible }  // [enc.outcome]
        let issued = issued(to: data, at: now)
        guard !issued.isEmpty else { throw .nothingIssued }  // [data.issued]
        let known = attempts[uid]
        if let known, known.expectedPeer.data == data {
            attempts[uid]?.isWithdrawn = false
            if introducer == nil { attempts[uid]?.introducer = nil }
            return false
        }
        if let known, case .linked(data.endpoint, _) = known.phase { return false }
        guard known != nil || attempts.count < LinkEstablishment.expectedPeerLimit else {
            throw .tooManyExpectedPeers  // [limit.expected]
        }
        let peer = ExpectedPeer(data: data, issued: issued, outcome: outcome)
        guard !needsLinkCapacity || known?.isLinked == true || hasLinkCapacity(besides: uid) else {
            declined.removeExpired(at: now)
            if known == nil { declined.add(peer, until: now + timeout) }
            throw .full  // [limit.links]
        }
        declined.remove(uid)
        begin(peer, zones: zones, introducer: introducer, until: now + timeout, at: now)
        return true
    }

    mutating func begin(
        _ expectedPeer: ExpectedPeer, zones: [UInt32], introducer: UID?, until deadline: Moment,
        at now: Moment
    ) {
        let uid = expectedPeer.endpoint.uid
        let candidates = expectedPeer.data.candidates
            .filter { $0.isDialable(allowingLoopback: issuer.hasIssuedLoopback) }
            .flatMap { $0.tried(on: zones) }
        var fresh = LinkAttempt(expectedPeer, local: local, candidates: candidates, until: deadline, at: now)
        fresh.introducer = introducer
        if let known = attempts[uid] {
            let kept = connections.ids(of: uid).filter { id in
                connections[id].map { known.keeps(id, $0.handshake, with: expectedPeer) } ?? false
            }
            for id in connections.ids(of: uid) where !kept.contains(id) { drop(id, .duplicate) }
            fresh.inherit(known, keeping: kept, at: now)
        }
        attempts[uid] = fresh
        dialWhatIsDue(uid, at: now)
    }

    /// Stops connecting to a peer; does nothing for a linked one.
    package mutating func cancel(_ uid: UID, at now: Moment) {
        guard let attempt = attempts[uid], attempt.isConnecting else { return }  // [link.cancel]
        fail(uid, .cancelled, telling: .cancelled)
    }

    /// Stops connecting to a peer that is no longer in the mesh. It may return, so its own attempt need not end. Where
    /// SELECT was sent, its answer is awaited first.
    package mutating func withdraw(_ uid: UID) {
        guard let attempt = attempts[uid], attempt.isConnecting else { return }
        guard attempt.selection.nominated == nil else {
            attempts[uid]?.isWithdrawn = true  // [select.pending]
            return
        }
        fail(uid, .withdrawn, telling: .unknownPeer)  // [mesh.withdraw]
    }

    /// Cancels every attempt, because the session leaves. The owner closes the links. Where we have sent SELECT, the other
    /// end may already have a link: it is notified that the session has ended.
    package mutating func cancelAll(at now: Moment) {
        let promised = attempts.values.compactMap(\.selection.nominated)
        for id in promised.sorted() { drop(id, .goodbye) }  // [close.goodbye]
        for uid in attempts.keys.sorted() { cancel(uid, at: now) }
        for id in connections.ids { drop(id, .cancelled) }
        attempts = [:]
        declined = DeclinedPeers()
    }
}
