/// A request of the shim protocol that this peer does not carry out.
struct Unimplemented: Error {}

/// The invitations of a session, both ways, and its discovery. Spec 12.
final class PeerInvitations {
    unowned let session: PeerSession
    private var listener: PeerListener?
    private var questions: [PeerInvitee] = []
    private var invites: [PeerInviter] = []
    private var numbers = 0
    /// Nil until it is asked to use multicast DNS.
    private var discovery: PeerDiscovery?
    /// How often the application has declined in a row, and how long an address with three or more is refused.
    private var refusals: [[UInt8]: (count: Int, end: Instant)] = [:]
    /// The one-time code of the session, and whether it is over.
    private(set) var code: SpokenCode?
    private var isCodeOver = false
    /// Whether it stays valid; how often in a row it was guessed wrong, and how long that stops all exchanges.
    private var isRepeated = false
    private var guesses = 0
    private(set) var pause: Instant?

    init(_ session: PeerSession) { self.session = session }

    private var bug: Bug? { session.bug }

    func carryOut(_ request: JSONValue) throws -> [String: JSONValue]? {
        switch request["op"]?.text {
        case "advertise":
            let type = request["type"]?.text ?? "conform"
            let info = (request["info"]?.members ?? [:]).mapValues { $0.text ?? "" }
            let isType = ServiceNames.isType(type) || bug == .advertisesAnyType
            try demand(isType, .internal, "not a service type")
            try demand(ServiceNames.isInfo(info) || bug == .infoUnchecked, .internal, "attributes")
            code = try spoken(request)
            isCodeOver = false
            isRepeated = request["validity"]?.text == "repeated"
            (guesses, pause) = (0, nil)
            let listener = try self.listener ?? PeerListener(session.peer.loop)
            listener.take = { [unowned self] in accept($0, $1) }
            self.listener = listener
            if request["discovery"]?.text == "multicast" {
                try startDiscovery().advertise(type, listener.port, info, code?.number)
            }
            return ["port": .number(Double(listener.port))]
        case "unadvertise": stop()
        case "browse":
            guard request["discovery"]?.text == "multicast" else { return [:] }
            try startDiscovery().browse(request["type"]?.text ?? "conform")
        case "unbrowse": discovery?.stopBrowsing()
        case "invite": try invite(request)
        case "answer":
            let number = request["invitation"]?.int ?? -1
            guard let question = questions.first(where: { $0.number == number && $0.state == .asking }) else {
                throw ProtocolError(.timeout, "no caller waits for this answer")
            }
            question.answer(request["accept"]?.isTrue ?? false)
        default: return nil
        }
        return [:]
    }

    /// Stops taking invitations.
    func stop() {
        listener?.close()
        listener = nil
        discovery?.stopAdvertising()
        if bug == .inviteOutlivesAdvertising { return }
        for question in questions where question.state != .agreed { question.close(.cancelled) }
    }

    /// Ends all invitations with the session.
    func shut() {
        stop()
        for question in questions { question.drop() }
        for invite in invites { invite.drop() }
        discovery?.stopBrowsing()
    }

    /// Releases what is left when everything was sent.
    func close() { discovery?.close() }

    private func startDiscovery() throws -> PeerDiscovery {
        let discovery = try self.discovery ?? PeerDiscovery(session)
        self.discovery = discovery
        return discovery
    }

    /// Whether a goodbye is still to be sent.
    var isLeaving: Bool { !(discovery?.isDone ?? true) }

    func tick(_ now: Instant) {
        discovery?.tick(now)
        for question in questions { question.tick(now) }
        questions.removeAll { $0.state == .over && $0.connection.stage == .ended }
        for invite in invites { invite.tick(now) }
        invites.removeAll { $0.isOver }
    }

    // MARK: Invitee

    /// `uid`: that of the invitee, if this end is the inviter.
    private func tls(isServer: Bool, _ uid: [UInt8]?) -> TLSEnd? {
        guard let identity = try? identity() else { return nil }
        var setup = TLSEnd.Setup(isServer: isServer, identity: identity)
        setup.protocols = isServer && bug == .inviteOnSessionAlpn ? [] : [InvitationFrames.alpn]
        setup.needsProtocol = bug != .inviteOnSessionAlpn
        setup.judgesOffer = bug != .inviteOnSessionAlpn && bug != .certificateBeforeAlpn
        setup.needsStrongKeys = bug != .acceptsWeakKeys
        setup.needsCertificate = true
        if let uid, bug != .invitesAnyKey {
            setup.verify = { chain in chain.first.map { KeyedUID.fits(uid, $0) } ?? false }
        }
        return try? TLSEnd(setup)
    }

    /// Returns a new certificate: with a keyed uid of its key, otherwise of a new one.
    private func identity() throws(SuiteFault) -> TLSIdentity {
        guard KeyedUID.isKeyed(session.endpoint.uid), let own = session.identity, bug != .inviteOtherKey
        else {
            return try TLSIdentity()
        }
        return bug == .inviteShowsIdentity ? own : try own.renewed()
    }

    func connection(
        _ socket: TCPSocket, _ role: LinkKey.Role, _ address: [UInt8], to uid: [UInt8]? = nil
    ) -> PeerConnection {
        PeerConnection(
            socket, role, address: address, loop: session.peer.loop, bug: bug, takesPlain: false,
            makeTLS: { [unowned self] in tls(isServer: role == .responder, uid) })
    }

    private func accept(_ socket: TCPSocket, _ address: [UInt8]) {
        let unproven = questions.filter { [.greeting, .confirming, .proven].contains($0.state) }
        let ofAddress = unproven.filter { $0.connection.address == address }
        if ofAddress.count >= 4 || unproven.count >= 96 {
            let old = (ofAddress.count >= 4 ? ofAddress : unproven).filter {
                $0.connection.began + .milliseconds(200) <= .now
            }
            guard let drawn = old.randomElement() else { return socket.close() }
            drawn.drop()
        }
        questions.append(PeerInvitee(self, connection(socket, .responder, address)))
    }

    func nextNumber() -> Int {
        numbers += 1
        return numbers
    }

    /// Makes room for a question, or refuses it. Spec 12.8, `invite.pending`.
    func makeRoom(for newcomer: PeerInvitee) throws(ProtocolError) -> Int? {
        if bug == .inviteAsksEachTime || bug == .inviteUnlimited { return nil }
        let pending = questions.filter { $0.state == .asking && $0 !== newcomer }
        let address = newcomer.connection.address
        let ofPeer = pending.filter { $0.uid == newcomer.uid }
        if let same = ofPeer.first(where: { $0.connection.address == address }) { return same.giveUp() }
        try demand(ofPeer.isEmpty || bug != .inviteReservesUID, .busy, "this peer has asked already")
        let quiet = refusals[address].map { $0.count >= 3 && .now < $0.end } ?? false
        try demand(!quiet || bug == .inviteNeverQuiet, .busy, "this address was refused too often")
        let ofAddress = pending.filter { $0.connection.address == address }
        guard ofPeer.count >= 4 || ofAddress.count >= 4 || pending.count >= 16 else { return nil }
        var rivals = pending
        if ofPeer.count >= 4 { rivals = ofPeer }
        if ofAddress.count >= 4 { rivals = rivals.filter { $0.connection.address == address } }
        if ofPeer.count < 4, ofAddress.count < 4 {
            let holds = Dictionary(grouping: pending, by: \.connection.address)
            let most = holds.values.map(\.count).max() ?? 0
            rivals = pending.filter { holds[$0.connection.address]?.count == most }
            if most > ofAddress.count + 1 {
                rivals.last?.answer(.busy)
                return nil
            }
            if most <= ofAddress.count { rivals = [] }
        }
        let old = rivals.filter { $0.asked + .seconds(10) <= .now && bug != .inviteKeepsPlaces }
        guard let drawn = old.randomElement() else { throw ProtocolError(.busy, "no room") }
        drawn.answer(.busy)
        return nil
    }

    /// Counts the application's answers to the questions of one address. Spec 12.8, `invite.quiet`.
    func answered(_ isAccepted: Bool, from address: [UInt8]) {
        if isAccepted {
            refusals[address] = nil
        } else {
            let count = (refusals[address]?.count ?? 0) + 1
            refusals[address] = (count, .now + .seconds(min(60 << max(0, min(count - 3, 4)), 600)))
        }
    }

    // MARK: Codes

    /// The code, as long as it is valid.
    var validCode: SpokenCode? { isCodeOver ? nil : code }

    /// Handles a wrong guess: ends the code, and every exchange.
    func guessedWrong() {
        guesses += 1
        if bug != .codeSilent { session.application.tell("code-guess", ["last": .bool(!isRepeated)]) }
        if bug == .codeSecondGuess { return }
        if isRepeated {
            if bug != .codeNeverPauses { pause = .now + .seconds(min(1 << min(guesses, 6), 60)) }
            return
        }
        isCodeOver = true
        for question in questions where question.state == .confirming { question.close(.wrongCode) }
    }

    func useCode() {
        guesses = 0
        if bug != .codeNeverEnds, !isRepeated { isCodeOver = true }
    }

    private func spoken(_ request: JSONValue) throws(ProtocolError) -> SpokenCode? {
        guard let text = request["code"]?.text else { return nil }
        let code = bug == .codeAnyForm ? SpokenCode(text) ?? SpokenCode("1-\(text)") : SpokenCode(typed: text)
        guard let code else { throw ProtocolError(.internal, "not a code") }
        return code
    }

    func exchange(_ code: SpokenCode, isInviter: Bool) -> CodeExchange {
        let spoken = bug == .codeAnyWords ? SpokenCode("\(code.number)-guitar") ?? code : code
        return CodeExchange(spoken, isInviter: isInviter, scalar: session.peer.randomBytes(48))
    }

    func binding(_ connection: PeerConnection) -> [UInt8] {
        bug == .codeUnbound
            ? [UInt8](repeating: 0, count: 32) : connection.tls?.exported("EXPORTER-mpc1-code") ?? []
    }

    // MARK: Inviter

    func isInviting(_ uid: [UInt8]) -> Bool { invites.contains { $0.uid == uid && !$0.isOver } }

    private func invite(_ request: JSONValue) throws {
        let context = request["context"]?.text.flatMap { [UInt8](hex: $0) }
        try demand(
            context?.count ?? 0 <= InvitationFrames.longestContext, .tooLarge, "a context that is too long")
        guard case .array(let texts)? = request["at"] else { throw Unimplemented() }
        let places = texts.compactMap { text in
            text.text?.split(separator: ":").last.flatMap { UInt16($0) }.map(Candidate.loopback)
        }
        guard !places.isEmpty, places.count == texts.count else { throw Unimplemented() }
        let uid = request["peer"]?.text.flatMap { [UInt8](hex: $0) }
        let seconds = request["timeout"]?.double ?? 30
        try demand((1...600).contains(seconds), .internal, "a timeout of \(seconds) s")
        let code = try spoken(request)
        invites.append(PeerInviter(self, uid, places, code, context, seconds))
    }
}
