import MultipeerSecurity

/// One session of the judge's own peer: who it is, what it issued, whom it seeks and to whom it is linked.
final class PeerSession {
    /// What the shim asks for.
    struct Settings {
        var handle: String
        var uid: [UInt8]
        var preference = Preference.required
        var identity: TLSIdentity?
        /// accept, reject or hang; nil: nobody is asked.
        var trust: String?
        var limits = Limits()
        /// The most members, this one included.
        var cap = 8
        /// Where resources are stored.
        var folder: String
    }

    unowned let peer: BrokenPeer
    let settings: Settings
    private(set) var endpoint: Endpoint
    /// The key that connection data pins; nil with preference none.
    let identity: TLSIdentity?
    let listener: PeerListener

    var issued: [Issued] = []
    var attempts: [Endpoint: PeerAttempt] = [:]
    /// Connections that are no links yet.
    var candidates: [PeerCandidate] = []
    /// One for each uid.
    var links: [[UInt8]: PeerLink] = [:]
    /// Connections that are over, but not written out.
    var closing: [PeerConnection] = []
    /// What the application was told last.
    var told: [[UInt8]: String] = [:]
    /// What the application said of a leaf: nil while it is asked.
    var trusts: [TrustQuestion: Bool?] = [:]
    /// Whether the application takes messages.
    var isPaused = false
    /// Links that are over and have brought messages that the application has not taken.
    var former: [PeerLink] = []
    /// How often it would have heard of each peer meanwhile.
    var unheard: [[UInt8]: UInt64] = [:]
    var isHolding = false
    /// The link whose long message is put together. Spec 15.2.
    weak var turn: PeerLink?
    private(set) lazy var mesh = PeerMesh(self)
    private(set) lazy var invitations = PeerInvitations(self)

    struct TrustQuestion: Hashable {
        let uid: [UInt8]
        let leaf: [UInt8]
    }

    init(_ settings: Settings, of peer: BrokenPeer) throws(SuiteFault) {
        self.peer = peer
        self.settings = settings
        endpoint = Endpoint(uid: settings.uid, instance: peer.randomBytes(8))
        let needsKey =
            settings.preference != .none || [.plainIgnoresFirstByte, .encPrefersTls].contains(peer.bug)
        if needsKey, settings.identity == nil {
            identity = try TLSIdentity()
        } else {
            identity = needsKey ? settings.identity : nil
        }
        listener = try PeerListener(peer.pump, bug: peer.bug)
        listener.take = { [unowned self] in accept($0, $1) }
    }

    var bug: Bug? { peer.bug }
    var limits: Limits { settings.limits }
    /// What is granted; the same as what HELLO says.
    var window: Limits { bug == .countsTheUsualWindow ? Limits() : limits }
    var handle: String { settings.handle }
    var name: [UInt8] { Array(settings.handle.utf8) }
    var preference: Preference { settings.preference }
    /// The most links.
    var seats: Int { settings.cap - 1 }

    // MARK: Outcome

    func outcome(with data: ConnectionData) -> Preference.Outcome {
        let isIdentity = settings.identity != nil && bug != .identityStaysOptional
        let mine = preference.counted(withIdentity: isIdentity)
        let theirs = bug == .identityStaysOptional ? data.preference : data.outcomePreference
        let outcome = mine.outcome(with: theirs)
        if bug == .noneLinksRequired, outcome == .refused { return .plain }
        if bug == .encPrefersPlain, outcome == .tls { return .plain }
        if bug == .encPrefersTls, outcome == .plain { return .tls }
        return outcome
    }

    // MARK: Issuing

    /// Connection data for a peer, or open data. Spec 4.3.
    func issue(for recipient: [UInt8]?, isMesh: Bool, lifetime: Int = 600) -> Issued {
        let now = Instant.now
        if bug != .dataNeverExpires { issued.removeAll { $0.expires <= now } }
        let known = issued.last {
            $0.recipient == recipient && $0.isMesh == isMesh && now - $0.made < .seconds(43_200)
        }
        if let known, bug != .dataNewEachTime { return known }
        let token = peer.randomBytes(32)
        var flags: UInt8 = isMesh ? ConnectionData.Flag.mesh : 0
        if settings.identity != nil { flags |= ConnectionData.Flag.identity }
        let data = ConnectionData(
            flags: flags, endpoint: endpoint, name: name, preference: preference,
            fingerprint: preference == .none ? nil : identity?.fingerprint, token: token,
            lifetime: UInt32(lifetime),
            recipient: bug == .dataToAnybody ? nil : recipient, candidates: [.loopback(listener.port)],
            extra: [Entry(0x3A3A, [0x5a])])
        var entries = data.entries
        if bug == .dataUnsorted { entries.reverse() }
        if bug == .dataWithoutLifetime { entries = entries.without(ConnectionData.Field.lifetime) }
        let bytes = ConnectionData.bytes(entries, flags: flags)
        let made = Issued(
            bytes: bytes, token: token, recipient: recipient, isMesh: isMesh,
            expires: now + .seconds(lifetime), made: now)
        issued.append(made)
        return made
    }

    /// Which of its own data an initiator names. Spec 6.1, `link.guess`.
    func nextData(for uid: [UInt8], _ attempt: PeerAttempt?) -> Issued? {
        let usable = usableData(for: uid)
        guard !usable.isEmpty else { return nil }
        return usable[(attempt?.guess ?? 0) % usable.count]
    }

    /// The newest first, those for this very peer before open ones.
    func usableData(for uid: [UInt8]) -> [Issued] {
        let usable = issued.filter {
            ($0.expires > .now || bug == .dataNeverExpires) && ($0.recipient == nil || $0.recipient == uid)
        }
        return usable.reversed().filter { $0.recipient != nil }
            + usable.reversed().filter { $0.recipient == nil }
    }

    // MARK: The application

    func tell(_ event: String, _ fields: [String: JSONValue]) {
        peer.tell(fields.merging(["event": .string(event), "session": .string(handle)]) { $1 })
    }

    /// Changes of a peer's state, the same never twice in a row. Spec 14.1.
    func tell(_ state: String, of uid: [UInt8], reason: String? = nil, code: Code? = nil) {
        guard told[uid] ?? "notConnected" != state else { return }
        if state == "connected", told[uid] != "connecting" { tell("connecting", of: uid) }
        told[uid] = state
        if isPaused { unheard[uid, default: 0] += 1 }
        var fields: [String: JSONValue] = ["peer": .string(uid.hex), "state": .string(state)]
        if let reason { fields["reason"] = .string(reason) }
        if let code { fields["code"] = .string(code.description) }
        tell("state", fields)
        if bug == .tellsStatesTwice, state == "notConnected" { tell("state", fields) }
    }

    func deliver(_ bytes: [UInt8], from uid: [UInt8], mode: String = "reliable") {
        var fields: [String: JSONValue] = [
            "from": .string(uid.hex), "mode": .string(mode), "size": .number(Double(bytes.count)),
            "sha256": .string(SHA256.hash(bytes).hex),
        ]
        if bytes.count <= 1_024 { fields["hex"] = .string(bytes.hex) }
        tell("message", fields)
    }

    // MARK: What is not taken

    private func takeFormer() {
        if isPaused { return }
        for link in former { link.deliver() }
        former = []
        unheard = [:]
    }

    /// Whether so much of a peer waits that it is not linked again. Spec 15.2.
    func isUnread(_ uid: [UInt8]) -> Bool {
        let events = unheard[uid] ?? 0
        let cost = former.filter { $0.uid == uid }.flatMap(\.waiting).reduce(0) { $0 + $1.cost }
        return bug != .relinksUnread && (events >= 64 || cost + 64 * events > limits.messageCredit)
    }

    // MARK: Leaving

    /// Ends everything; the session may be used again, as another endpoint. Spec 3.2, 14.3.
    func leave(_ code: Code = .goodbye) {
        for attempt in Array(attempts.values) { abandon(attempt, "left", nil, saying: .cancelled) }
        for candidate in candidates { candidate.close(code) }
        for link in Array(links.values) {
            if bug == .leavesWithoutGoodbye {
                link.drop("left")
            } else {
                link.end(code == .full ? "full" : "left", code == .full ? .full : nil, saying: code)
            }
        }
        mesh.forget()
        issued = []
        trusts = [:]
        endpoint.instance = peer.randomBytes(8)
    }

    /// The end of the process is near.
    func shut() {
        leave()
        invitations.shut()
        listener.close()
    }

    func tick(_ now: Instant) {
        takeFormer()
        for candidate in candidates { candidate.tick(now) }
        for candidate in candidates where candidate.probe != nil { settle(candidate, now) }
        for attempt in Array(attempts.values) { drive(attempt, now) }
        for link in Array(links.values) { link.tick(now) }
        for connection in closing { connection.tick(now) }
        closing.removeAll { $0.stage == .ended }
        mesh.tick(now)
        invitations.tick(now)
    }
}
