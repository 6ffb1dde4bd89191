import MultipeerSecurity

/// From HELLO to the link. Spec 6.2 to 6.5.
extension PeerSession {
    /// Makes checks 4 to 11 of 6.2; returns the data of both ends that the HELLO names.
    func check(_ hello: Hello, on candidate: PeerCandidate) throws(ProtocolError) -> (
        ReceivedConnectionData, IssuedConnectionData
    ) {
        if bug == .initiatorTrustsHello, let held = candidate.held, let mine = candidate.mine {
            return (held, mine)
        }
        if bug == .helloRefusesGreaseVersion {
            try demand(hello.versions == [1], .version, "versions \(hello.versions)")
        }
        let isSpoken = hello.versions.contains(1) || bug == .helloAnyVersion
        try demand(isSpoken, .version, "versions \(hello.versions)")
        try demand(Array(hello.sender.prefix(16)) != endpoint.uid, .itself, "my own uid")
        let isOtherInstance = hello.receiver.prefix(16) == endpoint.uid[...] && bug == .helloIgnoresInstance
        let isForMe = hello.receiver == endpoint.bytes || isOtherInstance
        try demand(isForMe || bug == .helloIgnoresReceiver, .unknownPeer, "for another endpoint")
        let ofSender = heldData(of: hello.sender, candidate)
        guard let newest = ofSender.first else {
            throw ProtocolError(.unknownPeer, "this endpoint is not expected")
        }
        let held = ofSender.first { $0.reference == hello.myData }
        let uid = newest.data.endpoint.uid
        let mine = issued.usable(for: uid).first { $0.reference == hello.yourData }
        if let named = candidate.mine, candidate.connection.role == .initiator, bug != .helloIgnoresRefs {
            let isSame = mine?.reference == named.reference && held?.reference == candidate.held?.reference
            try demand(isSame || bug == .helloOtherVersion, .unknownPeer, "other data than was named")
        }
        if bug == .helloIgnoresRefs, let any = mine ?? issued.usable(for: uid).first {
            candidate.belongs(to: newest.data.endpoint)
            return (held ?? newest, any)
        }
        guard let held, let mine else { throw ProtocolError(.unknownPeer, "other connection data") }
        candidate.belongs(to: held.data.endpoint)
        try check(held, candidate)
        let isWaiting = attempts[held.data.endpoint]?.isWaiting ?? false
        try demand(!isWaiting, .full, "no free slot")
        if mesh.isMesh(held, mine, isPlain: candidate.connection.isPlain), bug != .admitsNinth {
            try mesh.checkRoom(for: held.data.endpoint, hello.members)
        }
        return (held, mine)
    }

    /// Returns the data that is held of the sender of a HELLO. Spec 6.2, check 7.
    private func heldData(of sender: [UInt8], _ candidate: PeerCandidate) -> [ReceivedConnectionData] {
        let all = candidate.connection.role == .initiator ? candidate.attempt?.held ?? [] : awaited
        if bug == .helloIgnoresInstance {
            return all.filter { $0.data.endpoint.uid[...] == sender.prefix(16) }
        }
        return all.filter { $0.data.endpoint.bytes == sender }
    }

    /// Makes checks 9 and 10 of 6.2.
    private func check(_ held: ReceivedConnectionData, _ candidate: PeerCandidate) throws(ProtocolError) {
        let connection = candidate.connection
        let isFitting = outcome(with: held.data) == (connection.isPlain ? .plain : .tls)
        try demand(
            isFitting || bug == .helloModeUnchecked || bug == .acceptsPlainWhenRequired
                || bug == .plainIgnoresFirstByte, .policy,
            "another kind of connection")
        guard let tls = connection.tls, bug != .ignoresFingerprint, bug != .helloKeyOfAnybody,
            bug != .plainIgnoresFirstByte
        else { return }
        guard let leaf = tls.peerLeaf else {
            return try demand(bug == .skipsClientCertificate, .policy, "no certificate")
        }
        try demand(SHA256.hash(leaf) == held.data.fingerprint, .policy, "the certificate of another peer")
        let isProven = KeyedUID.fits(held.data.endpoint.uid, leaf)
        try demand(isProven || bug == .ignoresKeyedUid, .policy, "the key of another uid")
    }

    // MARK: Trust

    /// Asks the application for its decision about the peer of this connection. Spec 5.4.
    func decide(_ candidate: PeerCandidate) {
        guard let trust = settings.trust, let leaf = candidate.connection.tls?.peerLeaf,
            let endpoint = candidate.endpoint
        else { return candidate.trusted() }
        let isTrusted = application.trusts(endpoint.uid, leaf, answering: trust)
        if bug == .confirmsBeforeTrust { return candidate.trusted() }
        switch isTrusted {
        case true: candidate.trusted()
        case false: candidate.close(.rejected, "the application does not trust the certificate")
        case nil: break
        }
    }

    /// Enforces that a peer has at most four accepted connections that are confirmed and no link. Spec 15.2.
    func limitConfirmed(_ newest: PeerCandidate) {
        guard bug != .confirmedUnbounded else { return }
        let confirmed = candidates.filter {
            $0.connection.role == .responder && $0.hasItsConfirm && $0.endpoint?.uid == newest.endpoint?.uid
        }
        guard confirmed.count > 4 else { return }
        confirmed.first { $0 !== newest && $0.state != .selecting }?.close(.duplicate, "too many")
    }

    // MARK: SELECT

    /// Handles a connection on which CONFIRM went both ways.
    func confirmed(_ candidate: PeerCandidate) {
        guard let known = candidate.endpoint else { return }
        if application.isUnread(known.uid) { return candidate.close(.busy, "earlier messages are unread") }
        let now = Instant.now
        guard let link = links[known.uid] else {
            if candidate.isControlling { select(candidate) }
            return
        }
        let isSame = link.endpoint == known
        // A controlled end that receives SELECT gives up its old link to that endpoint; until then it waits.
        if isSame, !candidate.isControlling { return }
        let isReplacing = bug == .selectsAll || bug == .twoLinksPerPair || bug == .replacesLivingLink
        if isReplacing, isSame { return candidate.sendSelect() }
        if isSame, now - link.began < .seconds(2) || bug == .neverProbes {
            return candidate.close(.duplicate)
        }
        if !isSame, bug == .youngLinksLive, now - link.began < .seconds(2) { return candidate.close(.busy) }
        if !isSame, bug == .remembersInstance { return candidate.close(.busy) }
        candidate.probe = PeerProbe(link: link, began: now)
        link.liveness.ping()
        if !isSame, bug == .newInstancePushesOut { settle(candidate, now + .seconds(60)) }
    }

    /// Checks whether the old link has answered.
    func settle(_ candidate: PeerCandidate, _ now: Instant) {
        guard let probe = candidate.probe, candidate.state == .candidate, let known = candidate.endpoint
        else { return }
        let stands = links[known.uid] === probe.link
        if stands, let answered = probe.link.liveness.lastPong, answered >= probe.began {
            return candidate.close(probe.link.endpoint == known ? .duplicate : .busy, "the old link lives")
        }
        guard !stands || now - probe.began >= .seconds(1) else { return }
        candidate.probe = nil
        candidate.enter(.candidate)
        let isSuperseded = candidate.hasSelect && probe.link.endpoint == known
        if stands, !isSuperseded { probe.link.end("timeout", .timeout, saying: .timeout) }
        if candidate.isControlling {
            select(candidate)
        } else if candidate.hasSelect {
            accept(candidate)
        }
    }

    private func select(_ candidate: PeerCandidate) {
        guard candidate.state == .candidate else { return }
        if rivals(of: candidate).contains(where: { $0.state == .selecting }), bug != .selectsAll { return }
        guard links.count < slots else { return candidate.close(.full, "no free slot") }
        candidate.sendSelect()
    }

    /// Handles SELECT.
    func selected(_ candidate: PeerCandidate) throws(ProtocolError) {
        if bug == .neverAnswersSelect { return }
        if let uid = candidate.endpoint?.uid, application.isUnread(uid) { return candidate.close(.busy) }
        guard candidate.probe == nil else {
            candidate.hasSelect = true
            return
        }
        guard let old = candidate.endpoint.flatMap({ links[$0.uid] }), bug != .supersedesLivingLink else {
            return accept(candidate)
        }
        // It may still bring something, or be alive: it is probed before it is replaced.
        for rival in rivals(of: candidate) where rival.hasSelect { rival.close(.duplicate) }
        candidate.hasSelect = true
        candidate.probe = PeerProbe(link: old, began: .now)
        old.liveness.ping()
    }

    private func accept(_ candidate: PeerCandidate) {
        guard let uid = candidate.endpoint?.uid else { return }
        if let old = links[uid] {
            if bug == .keepsStaleLink { return }
            old.end("superseded", nil, saying: .duplicate)
        } else if links.count >= slots {
            return candidate.close(.full, "no free slot")
        }
        candidate.connection.send(.selected)
        link(candidate)
    }

    /// Makes a link of a candidate: SELECTED was sent or received.
    func link(_ candidate: PeerCandidate) {
        guard let held = candidate.held, let mine = candidate.mine, let hello = candidate.hello else {
            return
        }
        candidate.state = .linked
        candidates.removeAll { $0 === candidate }
        let uid = held.data.endpoint.uid
        let attempt = attempts[held.data.endpoint]
        attempts[held.data.endpoint] = nil
        let others = rivals(of: candidate)
        if let old = links[uid] {
            guard bug == .selectsAll || bug == .twoLinksPerPair || bug == .replacesLivingLink else {
                return candidate.connection.close(.duplicate)
            }
            old.end("superseded", nil, saying: .duplicate)
        }
        let link = PeerLink(self, candidate, held, mine, hello, known: attempt?.held ?? [])
        links[uid] = link
        application.tell("connected", of: uid)
        for other in others {
            let isDial = other.connection.role == .initiator && other.state != .candidate
            let isKept = bug == .selectsAll || bug == .twoLinksPerPair
            if (candidate.isControlling && !isKept) || isDial { other.close(.duplicate) }
        }
        attempt?.connections = []
        mesh.linked(link)
    }

    // MARK: Losses

    /// Handles a connection that failed.
    func lost(_ candidate: PeerCandidate, _ state: PeerCandidate.State, _ ending: PeerConnection.Ending?) {
        candidates.removeAll { $0 === candidate }
        if candidate.connection.stage != .ended { keepClosing(candidate.connection) }
        if state == .selecting, bug != .neverSelectsNext {
            if let next = rivals(of: candidate).first(where: { $0.state == .candidate }) { confirmed(next) }
        }
        guard let attempt = candidate.attempt else { return }
        attempt.connections.removeAll { $0 === candidate }
        guard attempts[attempt.endpoint] === attempt else { return }
        if candidate.connection.role == .initiator { attempt.lastDial = nil }
        switch ending {
        case .closed(let code):
            if [.policy, .rejected, .itself, .version, .full, .cancelled].contains(code) {
                return abandon(attempt, "refused", code, saying: .cancelled)
            }
            if code == .unknownPeer, bug == .givesUpAfterUnknownPeer {
                return abandon(attempt, "refused", code, saying: .cancelled)
            }
            if code == .unknownPeer { attempt.isUnknown = true }
            if code == .unknownPeer, candidate.connection.role == .initiator { guessNext(attempt) }
        case .refused(let refusal):
            if [.rejected, .version, .full].contains(refusal.code) {
                return abandon(attempt, "refused", refusal.code, saying: refusal.code)
            }
        case .lost: break
        case nil:
            if candidate.wasRejected { return abandon(attempt, "refused", .rejected, saying: .rejected) }
        }
    }

    private func guessNext(_ attempt: PeerAttempt) {
        if bug == .namesOneDatum { return }
        attempt.guess += 1
        attempt.namedInRound += 1
        guard attempt.namedInRound < issued.usable(for: attempt.endpoint.uid).count else {
            attempt.namedInRound = 0
            return
        }
        if bug == .backsOffBeforeNaming { return }
        attempt.isInRound = false
        attempt.nextRound = .now
    }

    /// Returns the other connections to the same endpoint.
    private func rivals(of candidate: PeerCandidate) -> [PeerCandidate] {
        candidates.filter { $0 !== candidate && $0.endpoint != nil && $0.endpoint == candidate.endpoint }
    }
}
