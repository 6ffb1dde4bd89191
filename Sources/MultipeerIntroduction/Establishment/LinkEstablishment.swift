package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// Every attempt of a session: who is awaited, which connection belongs to whom, what becomes a link. Spec 6.
///
/// Pure: connections are numbers, time and randomness are told. After every call the owner carries out `takeActions()`
/// in order and sleeps until `deadline`.
package struct LinkEstablishment: Sendable {
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
        /// The attempt goes on after its link was lost before it was used.
        case connect(UID)
        case fail(UID, LinkAttemptFailure)
    }

    package enum Refusal: Error, Equatable, Sendable {
        case itself, anotherRecipient, incompatible, tooManyExpectedPeers, full, nothingIssued
    }

    package let local: LocalPeer
    var issuer = ConnectionDataIssuer()
    var attempts: [UID: LinkAttempt] = [:]
    var declined = DeclinedPeers()
    var connections: HandshakeTable
    /// Peers of which the application has too much to take before they may be linked again. [limit.relink]
    var unread: Set<UID> = []
    var jitter: Jitter
    var actions: [Action] = []
    let maximumLinks: Int
    /// Who is in the mesh: told by the owner, listed in HELLO.
    package var meshSnapshot: MeshSnapshot

    static let expectedPeerLimit = 32

    /// `seed` feeds jitter and GREASE, nothing secret. `maximumLinks`: links at the most. `last`: the last connection of the
    /// instance before, so that no number comes twice.
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
        defer { actions = [] }
        return actions
    }

    package var deadline: Moment? {
        .earlier(attempts.values.lazy.compactMap(\.nextMoment).min(), connections.deadline)
    }
}

// MARK: how far things have come

extension LinkEstablishment {
    /// What a connection has come to; nil once it is the link, or over.
    package func phase(of id: ConnectionID) -> Handshake.Phase? { connections[id]?.handshake.phase }

    /// Whether a connection has brought the CONFIRM of an awaited peer, and is no link yet.
    package func isConfirmed(_ id: ConnectionID) -> Bool { connections[id]?.isConfirmed == true }

    /// How far a peer's attempt is; nil for a peer that is neither sought nor linked.
    package subscript(uid: UID) -> LinkAttempt? { attempts[uid] }

    package var lastConnection: UInt32 { connections.last }
}

// MARK: what the application asks for

extension LinkEstablishment {
    /// `token`: 32 random bytes, used when a new token is needed. `lifetime`: of new data, in whole seconds.
    package mutating func connectionData(
        for recipient: UID?, candidates: [Candidate], flags: ConnectionData.Flags = [], token: [UInt8],
        lifetime: Duration = HandshakeTiming.lifetime, at now: Moment
    ) throws(InvalidConnectionData) -> ConnectionData {
        var flags = flags
        if local.hasIdentity { flags.insert(.identity) }
        let data = try issuer.data(
            for: recipient, as: local, flags: flags, candidates: candidates, token: token,
            grease: jitter.next(), lifetime: lifetime, at: now)
        return data
    }

    /// Starts to connect the peer of `data`; returns false when it is linked or sought already with the same data.
    /// `zones`: the interfaces on which link-local addresses are tried. `needsLinkCapacity`: false for who shall be met even if it
    /// cannot be linked.
    ///
    /// Data of another instance of a linked peer is an attempt of its own: it may fail while the link stands.
    package mutating func connect(
        with data: ConnectionData, zones: [UInt32], within timeout: Duration = HandshakeTiming.attempt,
        needsLinkCapacity: Bool = true, at now: Moment
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
        let known = attempts[uid]
        if let known, known.expectedPeer.data == data {
            attempts[uid]?.isWithdrawn = false
            return false
        }
        if let known, case .linked(data.endpoint, _) = known.phase { return false }
        guard known != nil || attempts.count < LinkEstablishment.expectedPeerLimit else {
            throw .tooManyExpectedPeers  // [limit.awaited]
        }
        let peer = ExpectedPeer(data: data, issued: issued, outcome: outcome)
        guard !needsLinkCapacity || known?.isLinked == true || hasLinkCapacity(besides: uid) else {
            declined.removeExpired(at: now)
            if known == nil { declined.add(peer, until: now + timeout) }
            throw .full  // [limit.links]
        }
        declined.remove(uid)
        begin(peer, zones: zones, until: now + timeout, at: now)
        return true
    }

    mutating func begin(_ expectedPeer: ExpectedPeer, zones: [UInt32], until deadline: Moment, at now: Moment)
    {
        let uid = expectedPeer.endpoint.uid
        let candidates = expectedPeer.data.candidates
            .filter { $0.isDialable(allowingLoopback: issuer.hasIssuedLoopback) }
            .flatMap { $0.tried(on: zones) }
        var fresh = LinkAttempt(expectedPeer, local: local, candidates: candidates, until: deadline, at: now)
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

    /// Stops seeking; does nothing for a linked peer.
    package mutating func cancel(_ uid: UID, at now: Moment) {
        guard let attempt = attempts[uid], attempt.isConnecting else { return }  // [link.cancel]
        fail(uid, .cancelled, telling: .cancelled)
    }

    /// Stops seeking a peer that is not in the mesh any more. It may come back, so its own attempt need not end. Where
    /// SELECT was sent, its answer is awaited first.
    package mutating func withdraw(_ uid: UID) {
        guard let attempt = attempts[uid], attempt.isConnecting else { return }
        guard attempt.selection.nominated == nil else {
            attempts[uid]?.isWithdrawn = true  // [select.promise]
            return
        }
        fail(uid, .withdrawn, telling: .unknownPeer)  // [mesh.withdraw]
    }

    /// The session leaves: nobody is awaited any more. Links are the owner's to close. Where we have sent SELECT, the other
    /// end may have a link by now: it hears that the session is gone.
    package mutating func cancelAll(at now: Moment) {
        let promised = attempts.values.compactMap(\.selection.nominated)
        for id in promised.sorted() { drop(id, .goodbye) }  // [close.goodbye]
        for uid in attempts.keys.sorted() { cancel(uid, at: now) }
        for id in connections.ids { drop(id, .cancelled) }
        attempts = [:]
        declined = DeclinedPeers()
    }
}
