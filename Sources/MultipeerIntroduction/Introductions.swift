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
    /// Peers for which there was no seat, and until when they are told.
    var declined: [UID: (peer: Acquaintance, until: Moment)] = [:]
    var connections: [ConnectionID: Connection] = [:]
    /// Peers of which the application has too much to take before they may be linked again. [limit.relink]
    var unread: Set<UID> = []
    package internal(set) var lastConnection: UInt32
    var jitter: Jitter
    var actions: [Action] = []
    let seats: Int
    /// Who is in the mesh: told by the owner, listed in HELLO.
    package var company: Company

    /// A connection that is not a link yet.
    struct Connection: Sendable {
        var handshake: Handshake
        let isDialled: Bool
        var uid: UID? { handshake.acquaintance?.endpoint.uid }
    }

    private static let awaitedLimit = 32

    /// `seed` feeds jitter and GREASE, nothing secret. `seats`: links at the most. `last`: the last connection of the
    /// instance before, so that no number comes twice.
    package init(_ local: LocalPeer, seats: Int = Limits.peers - 1, seed: UInt64, after last: UInt32 = 0) {
        self.local = local
        company = Company(local.endpoint.uid, limit: seats + 1)
        lastConnection = last
        self.seats = seats
        jitter = Jitter(seed: seed)
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var deadline: Moment? {
        let moments =
            introductions.values.compactMap(\.nextMoment) + connections.values.map(\.handshake.deadline)
        return moments.min()
    }
}

// MARK: how far things have come

extension Introductions {
    /// What a connection has come to; nil once it is the link, or over.
    package func phase(of id: ConnectionID) -> Handshake.Phase? { connections[id]?.handshake.phase }
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
            decline(peer, until: now + patience, at: now)
            throw .full  // [limit.links]
        }
        declined[uid] = nil
        begin(peer, zones: zones, until: now + patience, at: now)
        return true
    }

    /// The other side asks as well, and should hear why nothing comes of it.
    private mutating func decline(_ peer: Acquaintance, until end: Moment, at now: Moment) {
        declined = declined.filter { now < $0.value.until }
        guard declined.count < Introductions.awaitedLimit, introductions[peer.endpoint.uid] == nil else {
            return
        }
        var declinedPeer = peer
        declinedPeer.isDeclined = true
        declined[peer.endpoint.uid] = (declinedPeer, end)
    }

    mutating func begin(_ acquaintance: Acquaintance, zones: [UInt32], until deadline: Moment, at now: Moment)
    {
        let uid = acquaintance.endpoint.uid
        let candidates = acquaintance.data.candidates
            .filter { $0.isDialable(allowingLoopback: issuer.hasIssuedLoopback) }
            .flatMap { $0.tried(on: zones) }
        var fresh = Introduction(acquaintance, local: local, candidates: candidates, until: deadline, at: now)
        if let known = introductions[uid] {
            let kept = connections(of: uid).filter { outlasts($0, known, newer: acquaintance) }
            for id in connections(of: uid) where !kept.contains(id) { drop(id, .duplicate) }
            fresh.inherit(known, keeping: kept, at: now)
        }
        introductions[uid] = fresh
        dialWhatIsDue(uid, at: now)
    }

    /// Whether a connection made with earlier data stays when newer data arrive: it leads to the same endpoint and key,
    /// and to a link that is no less than the newer data ask for. A connection on which SELECT was sent always stays,
    /// because the peer may have its link already. [select.promise]
    private func outlasts(_ id: ConnectionID, _ known: Introduction, newer: Acquaintance) -> Bool {
        guard !known.isLinked, known.acquaintance.endpoint == newer.endpoint,
            known.acquaintance.data.fingerprint == newer.data.fingerprint,
            let handshake = connections[id]?.handshake, handshake.hasMet
        else { return false }
        return known.selection.nominated == id || handshake.makesMesh || !newer.data.flags.contains(.mesh)
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
        for id in connections.keys.sorted() { drop(id, .cancelled) }
        introductions = [:]
        declined = [:]
    }
}
