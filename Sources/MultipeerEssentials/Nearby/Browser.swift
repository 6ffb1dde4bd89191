public import MultipeerCore
public import MultipeerDiscovery
import MultipeerHandshake
public import MultipeerTransport

/// Finds the peers that advertise a service type, and invites them.
///
/// ```swift
/// let browser = try Browser(peer: me, service: "chat")
/// try await browser.start()
/// for await event in browser.events {
///     guard case .found(let found) = event else { continue }
///     try await browser.invite(found.peer, to: session)   // returns when linked
/// }
/// ```
///
/// It runs from `start` to `stop` and can be started again; `stop` ends the loops over its events. Releasing the browser stops
/// it; iterating over its events does not keep it alive. Nothing needs the main thread. A peer that stops, or whose process exits
/// cleanly, is lost within two seconds; one that vanishes without a goodbye, after `DiscoveryConfiguration.hostTTL`, or within
/// about ten seconds when an invitation does not reach it or a session of this process loses its link to it. If it answers after
/// that, it is lost and then found again, so that an application that invites what is found is linked again. `run(linking:)` does
/// that, and repeats invitations that fail.
///
/// Discovery results are unauthenticated. If discovery is limited to loopback, set `Session.Configuration.listenAddresses` to
/// `configuration.listenAddresses`, so that the session stays on loopback, too: otherwise it listens on every interface and sends its
/// addresses to linked peers.
public actor Browser {
    /// The local peer, which browses and invites.
    public nonisolated let peer: PeerID
    /// The service type to browse for.
    public nonisolated let service: ServiceType
    /// The interfaces and the settings of discovery.
    public nonisolated let configuration: DiscoveryConfiguration

    private let slot = RunSlot<DiscoveryFeed>()
    /// Held for the whole of a start or stop.
    private let mutex = AsyncMutex()
    private var watch: ActiveBrowse?

    /// Creates a browser that is not running yet.
    public init(
        peer: PeerID, service: ServiceType, configuration: DiscoveryConfiguration = .standard
    ) {
        self.peer = peer
        self.service = service
        self.configuration = configuration
    }

    /// Creates a browser from a string. Throws `invalidArgument` when it breaks the rules of `ServiceType`.
    public init(
        peer: PeerID, service: String, configuration: DiscoveryConfiguration = .standard
    ) throws(MultipeerError) {
        self.init(peer: peer, service: try ServiceType(service), configuration: configuration)
    }

    deinit {
        watch?.end()
        slot.finish()
    }

    /// The peers that appear, change and disappear. The sequence ends when the browser is stopped, its discovery fails, or it is
    /// released.
    ///
    /// A slow consumer receives the current state only: a peer that disappeared and came back in the meantime is not reported as
    /// lost, unless its process was started again. A peer whose process crashed and was started again is reported as lost and then
    /// as found, as soon as it advertises again.
    public nonisolated var events: Browser.Events { Browser.Events(slot) }

    /// The peers that are visible now, sorted by name.
    public var peers: [DiscoveredPeer] { watch?.found.feed.peers ?? [] }

    /// Whether the browser is running.
    public var isRunning: Bool { watch?.isOver == false }

    /// Starts browsing. Does nothing when the browser is running.
    ///
    /// Throws `discovery` when this machine cannot browse: the multicast DNS port is taken, or no interface takes part, unless the
    /// configuration says `waitsForConnectivity`;
    /// `invalidArgument` for a configuration outside its ranges; and `cancelled`.
    public func start() async throws(MultipeerError) {
        await mutex.lock()
        defer { mutex.unlock() }
        if isRunning { return }
        let backend = try configuration.chosenBackend()
        let found = try await backend.browse(
            service, hiding: peer, waiting: configuration.waitsForConnectivity)
        found.feed.hide(peer.uid)
        // The backend may already have ended the run.
        if watch != nil { slot.close() }
        watch = ActiveBrowse(backend, service, found, on: configuration.host)
        slot.open(found.feed)
    }

    /// Stops browsing: every visible peer is reported as lost, and every iteration over `events` then ends, even if the browser is
    /// not running. Invitations in progress continue.
    public func stop() async {
        await mutex.lock()
        defer { mutex.unlock() }
        watch?.end()
        watch = nil
        slot.close()
    }

    /// Invites a discovered peer and returns when it is linked in `session`; a peer that was already linked there counts as
    /// linked once it accepts.
    ///
    /// The link joins the meshes of both sides unless the topology of one is a star. Two peers that invite each other at once get
    /// one link. Cancelling the task withdraws the invitation at the other end, too, and so does `session.disconnect`.
    ///
    /// Without a code, the context is sent encrypted, but to any host that advertises as that peer, unless the peer's id is the hash
    /// of its key (`UID.isKeyed`): then its host has proven to have that key. Otherwise put no secrets in it. With a code, nothing
    /// is sent before the peer has proven that it has the same code, and the link is verified. A code that failed must not be tried
    /// again: each attempt gives an attacker one guess. `validity` is that of the peer's advertiser: with a code that stays valid,
    /// and so is shared by a group, the peer is one of those who have it, and the link is not verified.
    ///
    /// The call never takes longer than the timeout plus one second. It throws:
    /// - `declined`: the user of the other peer declined.
    /// - `timedOut`: no answer, or no link, in time.
    /// - `full`: one of the sessions, or its mesh, has no room left.
    /// - `incompatible`: one side always encrypts and the other never does.
    /// - `unreachable`: no peer responds at the advertised addresses, or, until the timeout, only hosts without the key that the
    ///   peer's id is a hash of.
    /// - `busy`: the peer had too many other invitations open the whole time.
    /// - `cancelled`: by this task, by the other side, or by a newer invitation of the same peer.
    /// - `ended`: the link could not be made for the reason given; also when this session was disconnected.
    /// - `aborted`: the other side broke the protocol, or failed.
    /// - `wrongCode`: the peer has not proven the code; also if this task was cancelled after the code had been tried.
    /// - `unknownCode`: the peer claims that it does not have the code, or no longer has it.
    /// - `codeRequired`: the peer has a code, and none was given.
    /// - `notFound`: the browser does not see the peer, or is not running.
    /// - `invalidArgument`: the session belongs to another peer, the invited peer is the local one, the timeout is not 1 to 600
    ///   seconds, or the context has more than 32,768 bytes.
    public func invite(
        _ peer: PeerID, to session: Session, code: InvitationCode? = nil,
        validity: InvitationCode.Validity = .once, context: [UInt8]? = nil,
        timeout: Duration = .seconds(30)
    ) async throws(MultipeerError) {
        let invitation = OutgoingInvitation(
            peer: peer, local: self.peer, service: service, code: code, codeValidity: validity,
            context: context, timeout: timeout, keyLog: configuration.keyLog)
        let backend = try prepare(invitation, for: session)
        try await invitation.make(for: session.driver) { backend }.get()
    }

    /// Invites a peer that was found earlier, even when the browser is not running; all errors are in the result. `isMarked`: the
    /// session's owner is notified when the attempt failed and no event says so.
    package nonisolated func invite(
        known peer: PeerID, to session: Session, code: InvitationCode? = nil, context: [UInt8]?,
        timeout: Duration, isMarked: Bool = false
    ) async -> Result<Void, MultipeerError> {
        let invitation = OutgoingInvitation(
            peer: peer, local: self.peer, service: service, code: code, codeValidity: .once,
            context: context, timeout: timeout, keyLog: configuration.keyLog)
        let configuration = configuration
        return await invitation.make(for: session.driver, isMarked: isMarked) { () throws(MultipeerError) in
            try invitation.check(session)
            return try configuration.chosenBackend()
        }
    }

    /// Waits until another machine announces the local peer, and returns its address; nil when the browser is not running, when it is
    /// stopped, and when the task is cancelled.
    ///
    /// Two peers with one id never find each other, since a browser leaves its own out: it is what happens when the file of an identity
    /// or of an archived `PeerID` is copied to a second machine. Other programs of this machine with that id, and repeaters of what it
    /// announces, do not count. Like all results of discovery it is unauthenticated: show it to the user, who can give one of the two
    /// machines another id. A backend in memory, and that of the system's own responder, report none.
    public func waitUntilDuplicated() async -> String? {
        guard let watch else { return nil }
        await watch.backend.report(duplicateOf: peer.uid, to: watch.duplicate)
        return await watch.duplicate.valueUnlessCancelled() ?? nil
    }

    /// Returns a reader of all peers that does not affect `events`; nil while the browser is not running.
    func separateReader() -> DiscoveryFeed.Reader? { watch?.found.feed.makeReader(isSeparate: true) }

    /// When the browser was started; nil while it is not running.
    var startTime: Moment? { isRunning ? watch?.startTime : nil }

    /// Returns the backend that can resolve the peer, if the arguments are valid.
    private func prepare(
        _ invitation: OutgoingInvitation, for session: Session
    ) throws(MultipeerError) -> any DiscoveryBackend {
        try invitation.check(session)
        guard let watch, watch.found.feed.peer(invitation.peer.uid) != nil else {
            throw MultipeerError(
                .notFound, watch == nil ? "the browser is not running" : "\(invitation.peer) is not there")
        }
        // The context would be sent to a host that has proven nothing.
        let found = watch.found.feed.peers.first { $0.peer == invitation.peer }
        if found?.codeNumber != nil, invitation.code == nil {
            throw MultipeerError(InvitationFault.codeRequired, of: invitation.peer)
        }
        return watch.backend
    }
}

/// What exists between a start and a stop.
private final class ActiveBrowse: Sendable {
    let backend: any DiscoveryBackend
    let found: DiscoveryEvents
    let startTime = EventLoop.currentMoment()
    /// The address of another machine with the id of the local peer; nil at the end.
    let duplicate = Promise<String?>()
    private let missed: MissedPeers
    private let lossNotifier: PeerLossNotifier.Subscription

    init(
        _ backend: any DiscoveryBackend, _ service: ServiceType, _ found: DiscoveryEvents,
        on host: VirtualHost?
    ) {
        self.backend = backend
        self.found = found
        let missed = MissedPeers(backend, service, found.feed, on: host)
        self.missed = missed
        lossNotifier = (host?.lossNotifier ?? .shared).watch { missed.note($0) }
    }

    /// True also when the backend has ended by itself.
    var isOver: Bool { found.feed.isFinished }

    func end() {
        duplicate.send(nil)
        missed.end()
        found.stop()
    }
}
