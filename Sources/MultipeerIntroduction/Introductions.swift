package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// Every introduction of a session: who is awaited, which connection belongs to whom, what becomes a link. Spec 6.
///
/// Pure: connections are numbers, time and randomness are told. After every call the owner carries out `takeActions()`
/// in order and sleeps until `deadline`.
package struct Introductions: Sendable {
    package enum Action: Equatable, Sendable {
        case dial(ConnectionID, Candidate, accepting: Fingerprint?)
        case send(ConnectionID, [UInt8])
        /// Tell the peer the code if the channel is up, then end the connection. No further call about it comes.
        case close(ConnectionID, CloseCode)
        /// May the holder of this connection's key be linked? Answered by `decide`, once for each peer and key.
        case ask(UID, ConnectionID)
        /// The connection is the link from now on; `remote` are the limits of the peer's HELLO.
        /// `isMesh`: entries of the mesh travel on it. Spec 11.1.
        case link(ConnectionID, ConnectionData, remote: LinkLimits, isMesh: Bool)
        /// This endpoint exists and holds its key, whether there will be a link or not. [mesh.counted]
        case met(Endpoint)
        /// A link ended in favour of a newer connection.
        case supersede(ConnectionID)
        /// A link did not answer the probe.
        case unanswered(ConnectionID)
        case probe(ConnectionID)
        /// The introduction goes on after its link was lost before it was used.
        case seek(UID)
        case fail(UID, IntroductionFailure)
    }

    package enum Refusal: Error, Equatable, Sendable {
        case itself, anotherRecipient, incompatible, tooManyAwaited, full, nothingIssued
    }

    package let local: LocalPeer
    var issuer = Issuer()
    var introductions: [UID: Introduction] = [:]
    var declined = DeclinedPeers()
    var connections: HandshakeTable
    /// Peers of which the application has too much to take before they may be linked again. [limit.relink]
    var unread: Set<UID> = []
    var jitter: Jitter
    var actions: [Action] = []
    let seats: Int
    /// Who is in the mesh: told by the owner, listed in HELLO.
    package var company: Company

    static let awaitedLimit = 32

    /// `seed` feeds jitter and GREASE, nothing secret. `seats`: links at the most. `last`: the last connection of the
    /// instance before, so that no number comes twice.
    package init(_ local: LocalPeer, seats: Int = Limits.peers - 1, seed: UInt64, after last: UInt32 = 0) {
        self.local = local
        company = Company(local.endpoint.uid, limit: seats + 1)
        connections = HandshakeTable(after: last)
        self.seats = seats
        jitter = Jitter(seed: seed)
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var deadline: Moment? {
        .earlier(introductions.values.lazy.compactMap(\.nextMoment).min(), connections.deadline)
    }
}

// MARK: how far things have come

extension Introductions {
    /// What a connection has come to; nil once it is the link, or over.
    package func phase(of id: ConnectionID) -> Handshake.Phase? { connections[id]?.handshake.phase }

    /// Whether a connection has brought the CONFIRM of an awaited peer, and is no link yet.
    package func isConfirmed(_ id: ConnectionID) -> Bool { connections[id]?.isConfirmed == true }

    /// How far a peer's introduction is; nil for a peer that is neither sought nor linked.
    package subscript(uid: UID) -> Introduction? { introductions[uid] }

    package var lastConnection: UInt32 { connections.last }
}

// MARK: what the application asks for

extension Introductions {
    /// `token`: 32 random bytes, used when a new token is needed. `lifetime`: of new data, in whole seconds.
    package mutating func connectionData(
        for recipient: UID?, candidates: [Candidate], flags: ConnectionData.Flags = [], token: [UInt8],
        lifetime: Duration = Timing.lifetime, at now: Moment
    ) throws(InvalidConnectionData) -> ConnectionData {
        var flags = flags
        if local.hasIdentity { flags.insert(.identity) }
        let data = try issuer.data(
            for: recipient, as: local, flags: flags, candidates: candidates, token: token,
            grease: jitter.next(), lifetime: lifetime, at: now)
        return data
    }

    /// Starts to seek the peer of `data`; answers false when it is linked or sought already with the same data.
    /// `zones`: the interfaces on which link-local addresses are tried. `needsSeat`: false for who shall be met even if it
    /// cannot be linked.
    ///
    /// Data of another instance of a linked peer is an attempt of its own: it may fail while the link stands.
    package mutating func connect(
        with data: ConnectionData, zones: [UInt32], within patience: Duration = Timing.attempt,
        needsSeat: Bool = true, at now: Moment
    ) throws(Refusal) -> Bool {
        let uid = data.peer.uid
        guard uid != local.endpoint.uid else { throw .itself }  // [data.self]
        guard data.recipient == nil || data.recipient == local.endpoint.uid else {
            throw .anotherRecipient  // [data.recipient]
        }
        let outcome = local.outcome(with: data)
        guard outcome != .refused else { throw .incompatible }  // [enc.outcome]
        let issued = issued(to: data, at: now)
        guard !issued.isEmpty else { throw .nothingIssued }
        let known = introductions[uid]
        if let known, known.acquaintance.data == data {
            introductions[uid]?.isWithdrawn = false
            return false
        }
        if let known, case .linked(data.endpoint, _) = known.phase { return false }
        guard known != nil || introductions.count < Introductions.awaitedLimit else {
            throw .tooManyAwaited  // [limit.awaited]
        }
        let peer = Acquaintance(data: data, issued: issued, outcome: outcome)
        guard !needsSeat || known?.isLinked == true || hasSeat(besides: uid) else {
            declined.removeExpired(at: now)
            if known == nil { declined.add(peer, until: now + patience) }
            throw .full  // [limit.links]
        }
        declined.remove(uid)
        begin(peer, zones: zones, until: now + patience, at: now)
        return true
    }

    mutating func begin(_ acquaintance: Acquaintance, zones: [UInt32], until deadline: Moment, at now: Moment)
    {
        let uid = acquaintance.endpoint.uid
        let candidates = acquaintance.data.candidates
            .filter { $0.isDialable(allowingLoopback: issuer.hasIssuedLoopback) }
            .flatMap { $0.tried(on: zones) }
        var fresh = Introduction(acquaintance, local: local, candidates: candidates, until: deadline, at: now)
        if let known = introductions[uid] {
            let kept = connections.ids(of: uid).filter { id in
                connections[id].map { known.keeps(id, $0.handshake, with: acquaintance) } ?? false
            }
            for id in connections.ids(of: uid) where !kept.contains(id) { drop(id, .duplicate) }
            fresh.inherit(known, keeping: kept, at: now)
        }
        introductions[uid] = fresh
        dialWhatIsDue(uid, at: now)
    }

    /// Stops seeking; does nothing for a linked peer.
    package mutating func cancel(_ uid: UID, at now: Moment) {
        guard let introduction = introductions[uid], introduction.isSeeking else { return }  // [link.cancel]
        fail(uid, .cancelled, telling: .cancelled)
    }

    /// Stops seeking a peer that is not in the mesh any more. It may come back, so its own attempt need not end. Where
    /// SELECT was sent, its answer is awaited first.
    package mutating func withdraw(_ uid: UID) {
        guard let introduction = introductions[uid], introduction.isSeeking else { return }
        guard introduction.selection.nominated == nil else {
            introductions[uid]?.isWithdrawn = true  // [select.promise]
            return
        }
        fail(uid, .withdrawn, telling: .unknownPeer)  // [mesh.withdraw]
    }

    /// The session leaves: nobody is awaited any more. Links are the owner's to close. Where we have sent SELECT, the other
    /// end may have a link by now: it hears that the session is gone.
    package mutating func cancelAll(at now: Moment) {
        let promised = introductions.values.compactMap(\.selection.nominated)
        for id in promised.sorted() { drop(id, .goodbye) }  // [close.goodbye]
        for uid in introductions.keys.sorted() { cancel(uid, at: now) }
        for id in connections.ids { drop(id, .cancelled) }
        introductions = [:]
        declined = DeclinedPeers()
    }
}
