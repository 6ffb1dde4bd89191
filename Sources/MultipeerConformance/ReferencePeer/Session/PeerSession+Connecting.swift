import MultipeerSecurity

/// The attempts of a session, and its dials. Spec 4.4 and 6.1.
extension PeerSession {
    /// Connects to the issuer of this data for the application.
    func connect(_ blob: [UInt8], isInvited: Bool = false) throws(ProtocolError) {
        let data = try ConnectionDataReader(bug: bug).read(blob)
        let uid = data.endpoint.uid
        try demand(uid != endpoint.uid || bug == .connectsToItself, .itself, "its own uid")
        let isForMe = data.recipient == nil || data.recipient == endpoint.uid
        try demand(isForMe || bug == .dataIgnoresRecipient, .unknownPeer, "addressed to another peer")
        try demand(outcome(with: data) != .refused, .policy, "the preferences exclude each other")
        let isHeld = !issued.usable(for: uid).isEmpty || bug == .connectsUnissued
        try demand(isHeld, .unknownPeer, "no data was issued that this peer may hold")
        let held = ReceivedConnectionData(bytes: blob, data: data)
        let isAgain = isInvited && bug == .inviteLinksLinkedAgain
        if let link = links[uid], link.endpoint == data.endpoint, !isAgain { return link.hold(held) }
        try demand(attempts.count < 32 || bug == .expectsWithoutLimit, .full, "too many peers are awaited")
        connect(held, isForMesh: false)
        if links.count >= slots, let attempt = attempts[data.endpoint] { attempt.isWaiting = true }
    }

    /// Begins an attempt, or continues one with newer data.
    func connect(_ held: ReceivedConnectionData, isForMesh: Bool, isSilent: Bool = false) {
        let known = held.data.endpoint
        let now = Instant.now
        if let attempt = attempts[known] {
            attempt.held.removeAll { $0.bytes == held.bytes }
            attempt.held.insert(held, at: 0)
            attempt.deadline = max(attempt.deadline, now + .seconds(30))
            if bug == .newerDataEndsSelected {
                for one in attempt.connections where one.state == .selecting { one.close(.duplicate) }
            }
            return
        }
        let isHigher = !endpoint.uid.precedes(known.uid)
        var delay = isHigher ? Duration.milliseconds(500) : .zero
        if bug == .lowerWaits, !isHigher { delay = .milliseconds(700) }
        if bug == .higherDialsAtOnce { delay = .zero }
        let attempt = PeerAttempt(
            held, isForMesh: isForMesh, isSilent: isSilent, now: now, delay: delay)
        if bug == .higherNeverDials, isHigher { attempt.nextRound = now + .seconds(3_600) }
        attempts[known] = attempt
        if !isSilent { application.tell("connecting", of: known.uid) }
        drive(attempt, now)
    }

    /// Continues the attempt of a link that was lost before the peer used it. Spec 14.1, `state.unused`.
    func resume(_ link: PeerLink) {
        guard bug != .unusedLinkEndsAttempt, !link.wasUsed, .now - link.began < .seconds(25),
            let held = link.held.first, attempts[link.endpoint] == nil, !link.isMesh
        else { return }
        connect(held, isForMesh: false, isSilent: true)
    }

    /// Cancels an attempt for the application.
    func cancel(_ uid: [UInt8]) {
        for attempt in Array(attempts.values) where attempt.endpoint.uid == uid {
            if bug == .cancelIgnored {
                application.tell("notConnected", of: uid, reason: "cancelled", code: .cancelled)
            } else {
                abandon(attempt, "cancelled", .cancelled, saying: .cancelled)
            }
        }
    }

    /// Ends an attempt without a link.
    func abandon(_ attempt: PeerAttempt, _ reason: String, _ code: CloseCode?, saying said: CloseCode) {
        guard attempts[attempt.endpoint] === attempt else { return }
        attempts[attempt.endpoint] = nil
        for candidate in attempt.connections { candidate.close(said) }
        let isSilent = bug == .attemptEndsSilently && reason == "timeout"
        if links[attempt.endpoint.uid] == nil, !isSilent {
            application.tell("notConnected", of: attempt.endpoint.uid, reason: reason, code: code)
        }
        if attempt.isForMesh {
            mesh.failed(attempt.endpoint, reason, code, isUnknown: attempt.isUnknown)
        }
    }

    func drive(_ attempt: PeerAttempt, _ now: Instant) {
        if now >= attempt.deadline, !attempt.isDeciding, bug != .attemptWithoutDeadline {
            return abandon(attempt, "timeout", .timeout, saying: .timeout)
        }
        guard !attempt.isWaiting, now >= attempt.nextRound else { return }
        let isAhead = attempt.connections.contains { ![.securing, .greeting, .ended].contains($0.state) }
        guard !isAhead else { return }
        if !attempt.isInRound { begin(attempt) }
        while attempt.isInRound, let candidate = attempt.queue.first {
            let isEarly = attempt.lastDial.map { now - $0 < .milliseconds(250) } ?? false
            let most = bug == .dialsOneByOne ? 1 : 4
            guard bug == .dialsAllAtOnce || (attempt.dials < most && !isEarly) else { return }
            let isIntroduced = attempt.isForMesh && !mesh.everMet.contains(attempt.endpoint)
            if isIntroduced, bug != .dialsAtWill {
                if let end = mesh.silent[candidate], now < end {
                    attempt.queue.removeFirst()
                    continue
                }
                guard mesh.introducedDials.take() else { return }
            }
            attempt.queue.removeFirst()
            attempt.lastDial = now
            dial(candidate, attempt, isIntroduced: isIntroduced)
        }
        // A dial that a dead network has swallowed is not waited for. Spec 6.1, `link.again`.
        if attempt.isInRound, attempt.dials > 0, attempt.dials < 4, attempt.queue.isEmpty,
            let began = attempt.roundBegan, now - began >= .seconds(2),
            attempt.connections.allSatisfy({ $0.connection.stage == .dialling })
        {
            begin(attempt)
        }
        if attempt.isInRound, attempt.dials == 0, attempt.queue.isEmpty {
            attempt.isInRound = false
            attempt.rest(from: now)
            if bug == .retriesWithoutPause { attempt.nextRound = now }
            if bug == .neverRetries { attempt.nextRound = now + .seconds(3_600) }
        }
    }

    private func begin(_ attempt: PeerAttempt) {
        guard let held = attempt.held.first, !issued.usable(for: attempt.endpoint.uid).isEmpty else { return }
        let isIPv4 = bug == .dialsOnlyIPv4
        let isLocal = settings.listen.isLoopback || bug == .dialsLoopback
        let allowed = held.data.candidates.filter {
            (!isIPv4 || $0.address.count == 4) && $0.isAllowed(bug: bug) && (isLocal || !$0.isLoopback)
        }
        attempt.queue = allowed.flatMap { $0.tried(bug: bug) }
        attempt.isInRound = true
        attempt.roundBegan = .now
        attempt.lastDial = nil
    }

    private func dial(_ candidate: Candidate, _ attempt: PeerAttempt, isIntroduced: Bool) {
        guard let held = attempt.held.first, let socket = try? TCPSocket.dialling(candidate) else {
            attempt.lastDial = nil
            return
        }
        let isPlain = outcome(with: held.data) == .plain
        let isAwaited = { [bug] leaf in held.data.isMatched(by: leaf, bug: bug) }
        let connection = PeerConnection(
            socket, .initiator, address: candidate.address, loop: peer.loop, bug: bug, takesPlain: isPlain,
            makeTLS: isPlain ? nil : { [unowned self] in tls(isServer: false, isAwaited) })
        let made = PeerCandidate(self, connection, attempt)
        if isIntroduced { made.introduced = candidate }
        candidates.append(made)
    }

    // MARK: TLS

    private func tls(isServer: Bool, _ isAwaited: @escaping ([UInt8]) -> Bool) -> TLSEnd? {
        var setup = TLSEnd.Setup(isServer: isServer, identity: identity)
        if bug == .acceptsTls12 { setup.lowest = .tls12 }
        if bug == .handsOutTickets { setup.tickets = 2 }
        if bug == .offersTwoProtocols { setup.protocols.append("h2") }
        setup.groups = bug == .anyGroup ? nil : TLSEnd.listedGroups
        setup.serverName = bug == .sendsServerName ? "peer.example" : nil
        setup.needsProtocol = bug != .alpnUnchecked
        setup.judgesOffer = bug != .alpnUnchecked && bug != .certificateBeforeAlpn
        setup.needsStrongKeys = bug != .acceptsWeakKeys
        setup.needsCertificate = true
        setup.asksForCertificate = !isServer || bug != .skipsClientCertificate
        setup.checksDates = bug == .checksDates
        let bug = bug
        setup.verify = { chain in
            let isShort = chain.count <= 8 && chain.reduce(0) { $0 + $1.count } <= 16_384
            guard isShort || bug == .chainUnbounded else { return false }
            return bug == .ignoresFingerprint || bug == .plainIgnoresFirstByte
                || chain.first.map(isAwaited) ?? false
        }
        return try? TLSEnd(setup)
    }

    /// The connection data of all expected endpoints.
    var awaited: [ReceivedConnectionData] { attempts.values.flatMap(\.held) + links.values.flatMap(\.held) }

    func accept(_ socket: TCPSocket, _ address: [UInt8]) {
        let there = awaited.filter { $0.data.candidates.contains { $0.address == address } }
        let isExpected = !there.isEmpty
        let mostOfAddress = 4 * max(Set(there.map(\.data.endpoint.uid)).count, 1)
        let unproven = candidates.filter {
            $0.connection.role == .responder && !$0.hasItsConfirm && $0.isOfExpectedAddress == isExpected
        }
        // Addresses of IPv6 with the same first 64 bits count as one.
        let counted = bug == .countsEachAddress ? 16 : 8
        let ofAddress = unproven.filter { $0.connection.address.prefix(counted) == address.prefix(counted) }
        let isFull = unproven.count >= (isExpected ? 32 : 96)
        if bug != .unauthenticatedUnbounded, ofAddress.count >= mostOfAddress || isFull {
            // Drawn from those that are 200 ms old; without one, the new connection is closed.
            let old = (ofAddress.count >= mostOfAddress ? ofAddress : unproven).filter {
                $0.connection.began + .milliseconds(200) <= .now
            }
            guard let drawn = old.randomElement() else { return socket.close() }
            drop(drawn)
        }
        let awaitsPlain = preference == .none || awaited.contains { outcome(with: $0.data) == .plain }
        let connection = PeerConnection(
            socket, .responder, address: address, loop: peer.loop, bug: bug,
            takesPlain: awaitsPlain || bug == .acceptsPlainWhenRequired,
            makeTLS: identity == nil
                ? nil
                : { [unowned self] in
                    tls(isServer: true) { [unowned self] leaf in
                        awaited.contains {
                            outcome(with: $0.data) == .tls && $0.data.isMatched(by: leaf, bug: bug)
                        }
                    }
                })
        let candidate = PeerCandidate(self, connection, nil)
        candidate.isOfExpectedAddress = isExpected
        candidates.append(candidate)
    }

    private func drop(_ candidate: PeerCandidate) {
        candidate.connection.discard()
        candidate.ended(candidate.connection, .lost)
    }
}

extension ConnectionData {
    /// Whether this certificate (DER) is the one that the data pins, and may be of the peer's uid.
    fileprivate func isMatched(by leaf: [UInt8], bug: Bug?) -> Bool {
        fingerprint == SHA256.hash(leaf)
            && (KeyedUID.fits(endpoint.uid, leaf) || bug == .ignoresKeyedUid)
    }
}
