import MultipeerSecurity

/// One connection of a session from TCP to SELECTED. Spec 6.
final class PeerCandidate: PeerConnection.Owner {
    enum State { case securing, greeting, deciding, confirming, candidate, selecting, linked, ended }

    unowned let session: PeerSession
    let connection: PeerConnection
    var state = State.securing
    /// When the state began.
    private(set) var since = Instant.now
    private var greeted = Instant.now
    /// The attempt that it belongs to: known from the beginning on a dialled connection, otherwise from HELLO on.
    private(set) weak var attempt: PeerAttempt?
    /// The data of both ends that the HELLOs name.
    private(set) var held: ReceivedConnectionData?
    private(set) var mine: IssuedConnectionData?
    private(set) var hello: Hello?
    private var sentHello: [UInt8] = []
    private var receivedHello: [UInt8] = []
    private var hasConfirmed = false
    private(set) var hasItsConfirm = false
    /// Whether SELECT was received while the old link is being probed.
    var hasSelect = false
    /// Whether it was accepted from an address in the data of an expected peer.
    var isOfExpectedAddress = false
    /// The address that was dialled because of entries alone.
    var introduced: Candidate?
    /// Whether the application does not trust the peer.
    private(set) var wasRejected = false
    var probe: PeerProbe?

    init(_ session: PeerSession, _ connection: PeerConnection, _ attempt: PeerAttempt?) {
        self.session = session
        self.connection = connection
        self.attempt = attempt
        held = attempt?.held.first
        connection.owner = self
        attempt?.connections.append(self)
    }

    var bug: Bug? { session.bug }
    var endpoint: Endpoint? { held?.data.endpoint }

    func enter(_ next: State) {
        state = next
        since = .now
    }

    // MARK: Frames

    func admit(_ header: FrameHeader, on connection: PeerConnection) throws(ProtocolError) -> Bool {
        let longest = bug == .limitBeforeUnchecked ? Frame.longest : Frame.longestBefore
        try demand(
            header.length <= longest || bug == .frameLimitUnchecked, "a frame of \(header.length) bytes")
        guard try FrameRules(bug: bug).isKnown(header) else { return false }
        let early: Set<FrameKind> = [.hello, .confirm, .select, .selected, .close, .ping, .pong]
        let isLate = bug == .messageBeforeSelect && header.kind == .message
        try demand(early.contains(header.kind) || isLate, "\(header.kind) before SELECTED")
        try FrameRules(bug: bug).check(header)
        return true
    }

    func ready(_ connection: PeerConnection) throws(ProtocolError) {
        enter(.greeting)
        if connection.role == .initiator { try sendHello() }
    }

    func take(_ frame: Frame, from connection: PeerConnection) throws(ProtocolError) {
        switch frame.kind {
        case .hello: try takeHello(frame)
        case .confirm: try takeConfirm(frame.payload)
        case .select:
            if bug == .selectFromAnybody, isControlling { return session.link(self) }
            try demand(state == .candidate && hasItsConfirm, "SELECT before CONFIRM")
            try demand(!isControlling, "SELECT from the higher uid")
            try session.selected(self)
        case .selected:
            try demand(state == .selecting, "SELECTED without SELECT")
            session.link(self)
        case .ping:
            let isCandidate = state == .candidate || state == .selecting || bug == .pingBeforeCandidate
            try demand(isCandidate, "PING before the candidate")
            connection.send(.pong(frame.payload))
        case .pong: break
        case .message where bug == .messageBeforeSelect:
            if let endpoint { session.application.deliver(frame.payload, from: endpoint.uid) }
        default: throw .broken("\(frame.kind) before SELECTED")
        }
    }

    var isControlling: Bool { endpoint.map { session.endpoint.uid.precedes($0.uid) } ?? false }

    // MARK: HELLO

    private func sendHello() throws(ProtocolError) {
        guard let held else { throw ProtocolError(.unknownPeer, "no peer is expected") }
        if mine == nil {
            guard let mine = session.issued.next(for: held.data.endpoint.uid, attempt) else {
                throw ProtocolError(.unknownPeer, "no data was issued to this peer")
            }
            self.mine = mine
        }
        guard let mine else { return }
        let nonce = session.peer.randomBytes(32)
        let members = isMesh ? session.mesh.listed(for: held.data.endpoint) : []
        var hello = Hello(
            sender: session.endpoint, receiver: held.data.endpoint, myData: mine.reference,
            yourData: held.reference,
            nonce: nonce, limits: session.limits, members: members
        )
        if bug == .littleEndianLimits {
            let bytes = session.limits.bytes
            let parts = [bytes[0..<8], bytes[8..<12], bytes[12..<16], bytes[16..<20]]
            hello.set(Hello.Field.limits, parts.flatMap { $0.reversed() })
        }
        let frame = hello.frame
        sentHello = frame.bytes
        connection.send(frame)
    }

    /// Whether this becomes a mesh link. Spec 11.3.
    var isMesh: Bool {
        guard let held, let mine else { return false }
        if connection.isPlain, bug != .tellsOverPlain {
            guard session.preference == .none, held.data.preference == .none else { return false }
        }
        if bug == .introducesManual { return true }
        return mine.isMesh && held.data.flags & ConnectionData.Flag.mesh != 0
    }

    private func takeHello(_ frame: Frame) throws(ProtocolError) {
        if bug == .helloTwice, state != .greeting { return }
        try demand(state == .greeting, "a second HELLO")
        let entries = try EntryReader().read(
            frame.payload, known: Set(Hello.Field.mandatory + [Hello.Field.agent]))
        let isTrusting = bug == .initiatorTrustsHello && connection.role == .initiator
        if !isTrusting { try HelloCheck(bug: bug).check(entries) }
        let hello = Hello(entries)
        let (held, mine) = try session.check(hello, on: self)
        (self.hello, self.held, self.mine) = (hello, held, mine)
        receivedHello = frame.bytes
        if connection.role == .responder { try sendHello() }
        enter(.deciding)
        greeted = since
        session.decide(self)
    }

    /// Records the peer of this connection, which checks 1 to 8 have determined.
    func belongs(to endpoint: Endpoint) {
        guard attempt == nil else { return }
        attempt = session.attempts[endpoint]
        attempt?.connections.append(self)
    }

    // MARK: CONFIRM

    private var key: LinkKey {
        let isInitiator = connection.role == .initiator
        let tokens = (mine?.token ?? [], held?.data.token ?? [])
        let zeros = [UInt8](repeating: 0, count: 32)
        return LinkKey(
            hellos: isInitiator ? (sentHello, receivedHello) : (receivedHello, sentHello),
            tokens: isInitiator ? tokens : (tokens.1, tokens.0),
            binding: bug == .macWithoutBinding ? zeros : connection.tls?.binding() ?? zeros)
    }

    /// Goes on after the application has decided to trust the peer.
    func trusted() {
        guard state == .deciding, !hasConfirmed else { return }
        hasConfirmed = true
        let role = connection.role
        connection.send(Frame(.confirm, key.mac(bug == .macRoleWrong ? role.other : role)))
        enter(.confirming)
        confirmIfDone()
    }

    private func takeConfirm(_ mac: [UInt8]) throws(ProtocolError) {
        if bug == .confirmAnyOrder, state == .greeting || hasItsConfirm { return }
        try demand(state == .deciding || state == .confirming, "CONFIRM before HELLO")
        try demand(!hasItsConfirm, "a second CONFIRM")
        let role = connection.role.other
        let wanted = key.mac(role)
        let isPrefix = bug == .macPrefixChecked && mac.prefix(16) == wanted.prefix(16)
        let isRight = constantTimeEqual(mac, wanted) || isPrefix
        let isOwn = bug == .macWithoutRole && mac == key.mac(role.other)
        try demand(isRight || isOwn || bug == .macUnchecked, .badMAC, "the mac of CONFIRM does not verify")
        hasItsConfirm = true
        session.limitConfirmed(self)
        confirmIfDone()
    }

    private func confirmIfDone() {
        guard state == .confirming, hasItsConfirm else { return }
        enter(.candidate)
        session.confirmed(self)
    }

    func sendSelect() {
        enter(.selecting)
        connection.send(.select)
    }

    // MARK: The end

    func ended(_ connection: PeerConnection, _ ending: PeerConnection.Ending) {
        guard state != .ended, state != .linked else { return }
        let before = state
        if before == .securing { noteSilence() }
        enter(.ended)
        session.lost(self, before, ending)
    }

    private func noteSilence() {
        if let introduced { session.mesh.silent[introduced] = .now + .seconds(30) }
    }

    /// Closes the connection for a reason of this end.
    func close(_ code: CloseCode, _ reason: String = "") {
        guard state != .ended, state != .linked else { return }
        let before = state
        if before == .securing, code == .timeout { noteSilence() }
        wasRejected = code == .rejected
        enter(.ended)
        connection.close(code, reason)
        session.lost(self, before, nil)
    }

    func tick(_ now: Instant) {
        connection.tick(now)
        switch state {
        case .securing, .greeting:
            let isLate =
                now - since > .seconds(5)
                || connection.role == .responder && now - connection.began > .seconds(15)
            if isLate, bug != .handshakeWithoutDeadline {
                close(.timeout, "no HELLO")
            }
        case .deciding, .confirming:
            if now - greeted > .seconds(30), bug != .trustWithoutDeadline {
                close(.timeout, state == .deciding ? "no decision" : "no CONFIRM")
            }
        case .candidate, .selecting:
            let isAsking = state == .selecting && bug == .selectWithoutDeadline
            if probe == nil, now - since > .seconds(5), !isAsking { close(.timeout, "no SELECT or SELECTED") }
        case .linked, .ended: break
        }
    }
}

extension Hello {
    /// Creates a HELLO of any entries.
    init(_ entries: [TLVEntry]) { self.entries = entries }
}
