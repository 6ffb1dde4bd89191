import MultipeerSecurity

/// One session of the reference peer: its identity, its attempts and its links.
final class PeerSession {
    /// What the shim asks for.
    struct Settings {
        var handle: String
        var uid: [UInt8]
        var preference = Preference.required
        var identity: TLSIdentity?
        /// accept, reject or hang; nil: the application is not asked.
        var trust: String?
        var limits = Limits()
        /// Where it listens.
        var listen = Candidate.loopback(0)
        /// The most members, this one included.
        var cap = 8
        /// The folder in which resources are stored.
        var folder: String
        /// Whether what arrived of a resource stays when its link ends.
        var resumes = false
    }

    unowned let peer: ReferencePeer
    let settings: Settings
    private(set) var endpoint: Endpoint
    /// The key that connection data pins; nil with preference none.
    let identity: TLSIdentity?
    let listener: PeerListener

    var attempts: [Endpoint: PeerAttempt] = [:]
    /// Connections that are no links yet.
    var candidates: [PeerCandidate] = []
    /// The links, one for each uid.
    var links: [[UInt8]: PeerLink] = [:]
    /// Connections that are over, but not written out.
    var closing: [PeerConnection] = []
    /// The link whose long message is being reassembled. Spec 15.2.
    weak var turn: PeerLink?
    private(set) lazy var issued = PeerConnectionDataIssuer(self)
    private(set) lazy var application = PeerApplication(self)
    private(set) lazy var mesh = PeerMesh(self)
    private(set) lazy var invitations = PeerInvitations(self)

    init(_ settings: Settings, of peer: ReferencePeer) throws(SuiteFault) {
        self.peer = peer
        self.settings = settings
        endpoint = Endpoint(uid: settings.uid, instance: peer.randomBytes(8))
        let needsKey =
            settings.preference != .none || [.plainIgnoresFirstByte, .encPrefersTls].contains(peer.bug)
        if needsKey, settings.identity == nil {
            let shared = peer.bug == .oneKeyForAll ? peer.sharedIdentity : nil
            if let shared { identity = shared } else { identity = try TLSIdentity() }
            peer.sharedIdentity = identity
        } else {
            identity = needsKey ? settings.identity : nil
        }
        listener = try PeerListener(peer.loop, at: settings.listen, bug: peer.bug)
        listener.take = { [unowned self] in accept($0, $1) }
    }

    var bug: Bug? { peer.bug }
    var limits: Limits { settings.limits }
    /// What is granted; the same as in HELLO.
    var window: Limits { bug == .countsTheUsualWindow ? Limits() : limits }
    var handle: String { settings.handle }
    var name: [UInt8] { Array(settings.handle.utf8) }
    var preference: Preference { settings.preference }
    /// The most links.
    var slots: Int { settings.cap - 1 }

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

    // MARK: Leaving

    /// Ends everything; the session may be used again, as another endpoint. Spec 3.2, 14.3.
    func leave(_ code: CloseCode = .goodbye) {
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
        issued.forget()
        application.forgetTrust()
        endpoint.instance = peer.randomBytes(8)
    }

    /// Leaves because the process ends.
    func shut() {
        leave()
        invitations.shut()
        listener.close()
    }

    /// Keeps a connection that this end has closed until it is written out: 64 at most. Spec 15.2.
    func keepClosing(_ connection: PeerConnection) {
        closing.append(connection)
        guard closing.count > 64, bug != .closingUnbounded else { return }
        closing.removeFirst().discard()
    }

    func tick(_ now: Instant) {
        application.takeFormer()
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
