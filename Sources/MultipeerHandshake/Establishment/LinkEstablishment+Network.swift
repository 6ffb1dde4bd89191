package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

// MARK: input from the network

extension LinkEstablishment {
    /// What a TLS dialler may present: the certificates of the expected peers with which the outcome is TLS. [tls.pin]
    package var acceptedPins: [CertificatePin] {
        expectedPeers.sorted { $0.endpoint.uid < $1.endpoint.uid }.compactMap(\.pin)
    }

    /// Whether a peer is expected with which the outcome is plain. [enc.no-negotiation]
    package var awaitsPlain: Bool { expectedPeers.contains { $0.outcome == .plain } }

    private var expectedPeers: [ExpectedPeer] {
        attempts.values.map(\.expectedPeer) + declined.expectedPeers
    }

    /// The number of expected or linked peers whose connection data contain this address. [limit.unauthenticated]
    package func expectedPeers(at address: [UInt8]) -> Int {
        let there = expectedPeers.lazy.filter { peer in peer.data.candidates.contains { $0.host == address } }
        return Set(there.map(\.endpoint.uid)).count
    }

    /// Registers an accepted, unauthenticated connection. Each step up to its HELLO must come within `HandshakeTiming.greeting`,
    /// and all within `HandshakeTiming.unproven`.
    package mutating func accepted(at now: Moment) -> ConnectionID {
        let handshake = Handshake(.responder, for: nil, local: local, at: now)
        return connections.add(handshake, dialled: nil, besides: links)
    }

    /// Handles a dialled connection whose TCP is established.
    package mutating func connected(_ id: ConnectionID, at now: Moment) {
        connections[id]?.handshake.connected(at: now)
        if let uid = connections[id]?.uid { attempts[uid]?.plan.connected(id) }
    }

    /// Handles a connection whose channel is established. `nonce`: 32 random bytes for our HELLO.
    package mutating func secured(
        _ id: ConnectionID, _ channel: SecuredChannel, nonce: [UInt8], at now: Moment
    ) {
        let (meshSnapshot, grease) = (meshSnapshot, jitter.next())
        step(id, at: now) {
            $0.secured(channel, nonce: nonce, meshSnapshot: meshSnapshot, grease: grease, at: now)
        }
    }

    /// Handles a frame on a connection that is not a link.
    package mutating func receive(
        _ id: ConnectionID, _ header: FrameHeader, _ payload: Span<UInt8>, at now: Moment
    ) {
        if header.kind == .hello { return helloArrived(id, payload, at: now) }
        let frame: Frame
        do {
            frame = try Frame(header, payload)
        } catch {
            return violated(id, error.closeCode, at: now)
        }
        switch frame {
        case .confirm(let mac):
            step(id, at: now) { $0.confirmArrived(mac) }
            limitConfirmed(id, at: now)
        case .select: selectArrived(id, at: now)
        case .selected: selectedArrived(id, at: now)
        case .close(let code, reason: _): closeArrived(id, code, at: now)
        case .ping(let token): step(id, at: now) { $0.pinged(token) }
        case .pong: step(id, at: now) { $0.ponged() }
        case .ignorable: break
        default: violated(id, .protocolError, at: now)  // [frame.order]
        }
    }

    /// Makes room for a connection that has received its CONFIRM. [limit.confirmed]
    private mutating func limitConfirmed(_ id: ConnectionID, at now: Moment) {
        guard let uid = connections[id]?.uid else { return }
        let nominated = attempts[uid]?.selection.nominated
        guard let surplus = connections.surplus(for: id, of: uid, keeping: nominated) else { return }
        refused(surplus, .duplicate, at: now)
    }

    /// Handles a connection whose bytes were not frames, or were frames that are not allowed.
    package mutating func violated(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        step(id, at: now) { $0.end(code) }
    }

    /// Handles a connection that ended below the frame layer, or could not be made.
    package mutating func lost(_ id: ConnectionID, _ connectionFailure: ConnectionFailure, at now: Moment) {
        guard let connection = connections.remove(id) else { return }
        guard let uid = connection.uid else { return }
        if case .unreachable = connectionFailure { noteSilence(of: connection, at: now) }
        attempts[uid]?.note(connectionFailure)
        settle(id, of: uid, at: now)
    }

    /// Handles the end of the link to `uid`. `mayResume`: it was lost before the peer used it, so the peer may not
    /// have established it. `hasDeparted`: the peer's instance has ended.
    package mutating func linkEnded(
        _ id: ConnectionID, of uid: UID, mayResume: Bool, hasDeparted: Bool = false, at now: Moment
    ) {
        guard var attempt = attempts[uid], attempt.selection.link == id else { return }
        let isSilent = attempt.former == nil
        if isSilent {
            let isAwaited = !hasDeparted && attempt.selection.hasRivals
            guard isAwaited || mayResume && now < attempt.deadline else {
                return forget(uid, telling: .duplicate)
            }
            // As after a probe that was not answered: the waiting candidate begins another attempt. [stale.probe]
            if isAwaited {
                attempt.deadline = max(attempt.deadline, now + HandshakeTiming.attempt)
                attempt.isCallback = true
            }
            attempt.plan.restart(at: now, jitter: jitter.factor())
            attempts[uid] = attempt
        }
        actions.append(isSilent ? .resume(uid) : .connect(uid))  // [state.unused]
        unlink(id, of: uid, at: now)
    }

    /// Handles data from `uid` on its link: the answer to a probe, or anything else. [stale.busy]
    package mutating func probeAnswered(by uid: UID, at now: Moment) {
        guard let attempt = attempts[uid], attempt.probeDeadline != nil else { return }
        attempts[uid]?.probeDeadline = nil
        attempts[uid]?.parked = []
        select(for: uid, at: now) { selection, _ in selection.probeAnswered() }
        for waiting in attempt.parked { refused(waiting.connection, .busy, at: now) }
    }

    /// Takes the application's answer to `ask`. Pass the connection that was asked about: a late answer must not be taken
    /// for the answer to a later question about another key of the same peer.
    package mutating func decide(
        _ uid: UID, asked connection: ConnectionID? = nil, isTrusted: Bool, at now: Moment
    ) {
        guard let attempt = attempts[uid], case .asked(let asked, let since) = attempt.trust,
            connection == nil || connection == asked
        else { return }
        guard isTrusted else { return fail(uid, .refused(.rejected), telling: .rejected) }
        attempts[uid]?.trust = .trusted
        if since < now {
            attempts[uid]?.deadline = max(attempt.deadline, now + HandshakeTiming.selection)
        }
        for id in connections.ids(of: uid) { step(id, at: now) { $0.decided(true) } }
    }

    /// Sets whether the application has too many unread events of a peer: then no candidate of the peer may become a link.
    /// [limit.relink]
    package mutating func setUnread(_ isTooMuch: Bool, of uid: UID) {
        if isTooMuch { unread.insert(uid) } else { unread.remove(uid) }
    }

    package mutating func advance(to now: Moment) {
        for id in connections.ids {
            guard let connection = connections[id], connection.handshake.deadline <= now else { continue }
            noteSilence(of: connection, at: now)
            step(id, at: now) { $0.timedOut() }
        }
        for uid in attempts.keys.sorted() { advance(uid, to: now) }
        declined.removeExpired(at: now)
    }

    mutating func advance(_ uid: UID, to now: Moment) {
        guard let attempt = attempts[uid] else { return }
        if let due = attempt.probeDeadline, due <= now {
            if now > due + Suspension.clockGap, let link = attempt.selection.link {  // [live.resume]
                probe(link, of: uid, within: Suspension.resumeGrace, at: now)
            } else {
                probeUnanswered(uid, at: now)
            }
        }
        guard let attempt = attempts[uid], attempt.isConnecting else { return }
        if attempt.end <= now, attempt.selection.nominated == nil {  // [link.deadline]
            fail(uid, .timedOut(attempt.connectionFailure), telling: .timeout)
        } else {
            dialWhatIsDue(uid, at: now)
        }
    }
}
