public import MultipeerCore
public import MultipeerDiscovery
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
/// It runs from `start` to `stop`, as often as you like; `stop` ends the loops over its events. Releasing it stops it;
/// iterating over its events does not keep it. Nothing needs the main thread. A peer that stops, or whose process ends well, is lost within two seconds; one
/// that vanishes without a word, after `DiscoveryConfiguration.hostTTL`, or within some ten seconds when an invitation
/// does not reach it or a session of this process loses its link to it.
///
/// Who is found is what somebody on the network says. With discovery on loopback alone, set `SessionConfiguration.listening`
/// to `configuration.listening`, so that the session stays there, too: otherwise it listens on every interface, and tells
/// those whom it is linked with their addresses.
public actor Browser {
    /// Who looks, and invites.
    public nonisolated let peer: PeerID
    /// What for.
    public nonisolated let service: ServiceType
    /// On which interfaces, and how.
    public nonisolated let configuration: DiscoveryConfiguration

    private let slot = RunSlot<DiscoveryFeed>()
    /// Held from the first to the last step of a start or stop.
    private let mutex = AsyncMutex()
    private var watch: ActiveBrowse?

    /// A browser that does nothing yet.
    public init(
        peer: PeerID, service: ServiceType, configuration: DiscoveryConfiguration = .standard
    ) {
        self.peer = peer
        self.service = service
        self.configuration = configuration
    }

    /// The same with a word. Throws `invalidArgument` when it breaks the rules of `ServiceType`.
    public init(
        peer: PeerID, service: String, configuration: DiscoveryConfiguration = .standard
    ) throws(MultipeerError) {
        self.init(peer: peer, service: try MultipeerError.checking(service), configuration: configuration)
    }

    deinit {
        watch?.end()
        slot.finish()
    }

    /// Who comes, changes and goes. It ends when the browser is stopped, its discovery fails, or it is released.
    ///
    /// A loop that lags behind gets what is true by then: a peer that went and came back meanwhile has not gone for it.
    public nonisolated var events: BrowserEvents { BrowserEvents(slot) }

    /// Who is there now, in the order of their names.
    public var peers: [DiscoveredPeer] { watch?.found.feed.peers ?? [] }

    /// Whether it looks.
    public var isRunning: Bool { watch?.isOver == false }

    /// Starts to look. Does nothing when it is running.
    ///
    /// Throws `discovery` when nobody can be found here: the port of multicast DNS is taken, or no interface takes part;
    /// `invalidArgument` for a configuration outside its ranges; and `cancelled`.
    public func start() async throws(MultipeerError) {
        await mutex.lock()
        defer { mutex.unlock() }
        if isRunning { return }
        let backend = try configuration.chosenBackend()
        let found = try await backend.browse(service, hiding: peer)
        found.feed.hide(peer.uid)
        // The backend may have ended the run before.
        if watch != nil { slot.close() }
        watch = ActiveBrowse(backend, service, found, on: configuration.host)
        slot.open(found.feed)
    }

    /// Looks no more; everybody who was there is lost, and every iteration over `events` ends with that, also of a
    /// browser that is not running. Invitations that are under way go on.
    public func stop() async {
        await mutex.lock()
        defer { mutex.unlock() }
        watch?.end()
        watch = nil
        slot.close()
    }

    /// Invites a peer that was found, and returns when it is linked in `session`, which one that was linked there already
    /// is with its yes.
    ///
    /// The link joins the meshes of both sides unless the topology of one is a star. Two that invite each other at once get
    /// one link. Cancelling the task withdraws the invitation at the other end, too, and so does `session.disconnect`.
    ///
    /// The context travels encrypted, but to whoever advertises as that peer: no secrets in it.
    ///
    /// It never takes a second longer than the timeout. What it throws:
    /// - `declined`: its user said no.
    /// - `timedOut`: there was no answer, or no link, in time.
    /// - `full`: one of the sessions, or its mesh, has no place left.
    /// - `incompatible`: one side always encrypts and the other never does.
    /// - `unreachable`: nobody is where the peer says it is.
    /// - `busy`: too many others were asking it for the whole time.
    /// - `cancelled`: by this task, by the other side, or by a newer invitation of the same peer.
    /// - `ended`: the link could not be made for the reason given; also when this session was left.
    /// - `aborted`: the other side broke the protocol, or failed.
    /// - `notFound`: the browser does not see the peer, or is not running.
    /// - `invalidArgument`: the session is of another peer, the peer is the own one, the timeout is not 1 to 600 seconds,
    ///   or the context has more than 32,768 bytes.
    public func invite(
        _ peer: PeerID, to session: Session, context: [UInt8]? = nil, timeout: Duration = .seconds(30)
    ) async throws(MultipeerError) {
        let invitation = OutgoingInvitation(
            peer: peer, local: self.peer, service: service, context: context, timeout: timeout,
            keyLog: configuration.keyLog)
        let backend = try prepare(invitation, for: session)
        try await invitation.make(for: session.driver) { backend }.get()
    }

    /// The same of a peer that was found a while ago, also when the browser is not running, with all complaints in the
    /// result. `isMarked`: the session's owner hears when it came to nothing and no event says so.
    package nonisolated func invite(
        known peer: PeerID, to session: Session, context: [UInt8]?, timeout: Duration, isMarked: Bool = false
    ) async -> Result<Void, MultipeerError> {
        let invitation = OutgoingInvitation(
            peer: peer, local: self.peer, service: service, context: context, timeout: timeout,
            keyLog: configuration.keyLog)
        let configuration = configuration
        return await invitation.make(for: session.driver, isMarked: isMarked) { () throws(MultipeerError) in
            try invitation.check(session)
            return try configuration.chosenBackend()
        }
    }

    /// Who can be asked where the peer is, if all else is right.
    private func prepare(
        _ invitation: OutgoingInvitation, for session: Session
    ) throws(MultipeerError) -> any DiscoveryBackend {
        try invitation.check(session)
        guard let watch, watch.found.feed.peer(invitation.peer.uid) != nil else {
            throw MultipeerError(
                .notFound, watch == nil ? "the browser is not running" : "\(invitation.peer) is not there")
        }
        return watch.backend
    }
}

/// What runs between a start and a stop.
private final class ActiveBrowse: Sendable {
    let backend: any DiscoveryBackend
    let found: DiscoveryEvents
    private let lossNotifier: PeerLossNotifier.Subscription

    init(
        _ backend: any DiscoveryBackend, _ service: ServiceType, _ found: DiscoveryEvents,
        on host: VirtualHost?
    ) {
        self.backend = backend
        self.found = found
        lossNotifier = (host?.lossNotifier ?? .shared).watch { [feed = found.feed] uid in
            guard let lost = feed.peer(uid) else { return }
            Task.following { await backend.reconfirm(lost, service) }
        }
    }

    /// Also when the backend has ended by itself.
    var isOver: Bool { found.feed.isFinished }

    func end() { found.stop() }
}
