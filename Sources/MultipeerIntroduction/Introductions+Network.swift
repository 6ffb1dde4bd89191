package import MultipeerFraming
package import MultipeerSecurity

// MARK: what the network brings

extension Introductions {
    /// The keys that a TLS dialler may show: those of the awaited peers with which the outcome is TLS. [tls.pin]
    package var acceptedFingerprints: [Fingerprint] {
        introductions.values.filter { $0.acquaintance.outcome == .encrypted }
            .compactMap(\.acquaintance.data.fingerprint)
    }

    /// Whether anybody is awaited with whom the outcome is plain. [enc.no-negotiation]
    package var awaitsPlain: Bool { introductions.values.contains { $0.acquaintance.outcome == .plain } }

    /// A stranger connected. `greeting`: until when it must have sent its HELLO.
    package mutating func accepted(at now: Moment) -> ConnectionID {
        let id = nextConnection()
        let handshake = Handshake(.responder, for: nil, local: local, deadline: now + Timing.greeting)
        connections[id] = Connection(handshake: handshake, isDialled: false)
        return id
    }

    /// The channel of a connection stands. `nonce`: 32 random bytes for our HELLO.
    package mutating func secured(
        _ id: ConnectionID, _ channel: SecuredChannel, nonce: [UInt8], at now: Moment
    ) {
        let (members, grease) = (linkedEndpoints, jitter.next())
        step(id, at: now) { $0.secured(channel, nonce: nonce, members: members, grease: grease, at: now) }
    }

    /// A frame arrived on a connection that is not a link. [frame.order]
    package mutating func receive(
        _ id: ConnectionID, _ header: FrameHeader, _ payload: Span<UInt8>, at now: Moment
    ) {
        switch header.kind {
        case .hello:
            let (members, grease) = (linkedEndpoints, jitter.next())
            let known = introductions.mapValues(\.acquaintance)
            step(id, at: now) {
                $0.greeted(payload, members: members, grease: grease, at: now, lookUp: { known[$0] })
            }
        case .confirm: step(id, at: now) { $0.confirmArrived(payload) }
        case .select: selectArrived(id, at: now)
        case .selected: selectedArrived(id, at: now)
        case .close: closeArrived(id, payload, at: now)
        case .ping where connections[id]?.handshake.phase == .candidate:
            var pong = ByteBuffer()
            pong.appendFrame(.pong, payload: payload)
            actions.append(.send(id, pong.takeAll()))
        case .pong: break
        case let kind where kind.isIgnorable: break
        default: step(id, at: now) { $0.end(.protocolError) }
        }
    }

    /// The bytes of a connection were no frames, or frames that may not come.
    package mutating func violated(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        step(id, at: now) { $0.end(code) }
    }

    /// Whether the key that the connection data of `uid` pins belongs to an identity. Spec 5.4.
    package func showsIdentity(_ uid: UID) -> Bool {
        introductions[uid]?.acquaintance.data.flags.contains(.identity) == true
    }

    /// A connection ended below the frames, or could not be made.
    package mutating func lost(_ id: ConnectionID, _ setback: Setback, at now: Moment) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        guard let uid = connection.uid else { return }
        introductions[uid]?.note(setback)
        settle(id, of: uid, at: now)
    }

    /// The link to `uid` is over. `mayResume`: it was lost before the peer used it, so the peer may not know of it.
    package mutating func linkEnded(_ id: ConnectionID, of uid: UID, mayResume: Bool, at now: Moment) {
        guard var introduction = introductions[uid], introduction.selection.link == id else { return }
        if mayResume, now < introduction.deadline {
            introduction.phase = .seeking
            introduction.probeDeadline = nil
            introduction.plan.restart(at: now, jitter: jitter.factor())
            introductions[uid] = introduction
            actions.append(.seek(uid))
            select(for: uid, at: now) { $0.died(id, hasSeat: $1) }
            resumeDialling(uid, at: now)
        } else {
            for other in connections(of: uid) { drop(other, .duplicate) }
            introductions[uid] = nil
        }
    }

    /// The link to `uid` answered a probe, or simply sent something. [stale.busy]
    package mutating func probeAnswered(by uid: UID, at now: Moment) {
        guard let introduction = introductions[uid], introduction.probeDeadline != nil else { return }
        introductions[uid]?.probeDeadline = nil
        let parked = introduction.parked
        introductions[uid]?.parked = []
        for waiting in parked { drop(waiting.connection, .busy) }
        select(for: uid, at: now) { selection, _ in selection.probeAnswered() }
        if !parked.isEmpty, case .linked(let endpoint, _) = introduction.phase,
            endpoint != introduction.acquaintance.endpoint
        {
            introductions[uid]?.note(.refused(.busy))
        }
    }

    /// The answer to `ask`.
    package mutating func decide(_ uid: UID, isTrusted: Bool, at now: Moment) {
        guard let introduction = introductions[uid], introduction.trust == .asked else { return }
        guard isTrusted else { return fail(uid, .refused(.rejected), telling: .rejected) }
        introductions[uid]?.trust = .trusted
        for id in connections(of: uid) { step(id, at: now) { $0.decided(true) } }
    }

    package mutating func advance(to now: Moment) {
        for (id, connection) in connections.sorted(by: { $0.key < $1.key })
        where connection.handshake.deadline <= now {
            step(id, at: now) { $0.timedOut() }
        }
        for uid in introductions.keys.sorted() { advance(uid, to: now) }
    }

    mutating func advance(_ uid: UID, to now: Moment) {
        guard let introduction = introductions[uid] else { return }
        if let probe = introduction.probeDeadline, probe <= now { probeUnanswered(uid, at: now) }
        guard let introduction = introductions[uid], !introduction.isLinked else { return }
        if introduction.deadline <= now {  // [link.deadline]
            fail(uid, .timedOut(introduction.setback), telling: .timeout)
        } else {
            dialWhatIsDue(uid, at: now)
        }
    }
}
