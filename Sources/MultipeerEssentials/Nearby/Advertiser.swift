public import MultipeerCore
public import MultipeerDiscovery
public import MultipeerSecurity
public import MultipeerTransport

/// Advertises the local peer under a service type and receives invitations from other peers.
///
/// ```swift
/// let advertiser = try Advertiser(peer: me, service: "chat", info: ["room": "kitchen"])
/// try await advertiser.start()
/// for await invitation in advertiser.invitations {
///     try await invitation.accept(into: session)       // or ask the user first, and decline
/// }
/// ```
///
/// It runs from `start` to `stop` and can be started again; `stop` ends the loop over its invitations. Releasing the advertiser
/// stops it with a goodbye; iterating over its invitations does not keep it alive. Invitations that were accepted by then go on.
/// Nothing needs the main thread. Of several advertisers of one peer for one service type, the one that started last is found and
/// invited, and when it stops the one before it. Everyone on the network can read what is advertised, including the name and the id of the peer.
///
/// If discovery is limited to loopback, set `Session.Configuration.listenAddresses` to `configuration.listenAddresses`, so that the session
/// stays on loopback, too: otherwise it listens on every interface and sends its addresses to linked peers.
public actor Advertiser {
    /// The peer that is advertised.
    public nonisolated let peer: PeerID
    /// The service type under which the peer is advertised.
    public nonisolated let service: ServiceType
    /// The interfaces and the settings of discovery.
    public nonisolated let configuration: DiscoveryConfiguration
    /// The additional information that is advertised.
    public private(set) var info: DiscoveryInfo
    /// The code that an inviter has to prove before this peer is asked anything; nil when none is needed.
    public nonisolated let code: InvitationCode?
    /// How often the code may be used.
    public nonisolated let codeValidity: InvitationCode.Validity

    private let identity: Identity?
    private let slot = RunSlot<InvitationListener>()
    /// Held for the whole of a start or stop.
    private let mutex = AsyncMutex()
    private var activeAdvertisement: ActiveAdvertisement?

    /// Creates an advertiser that is not running yet.
    ///
    /// `identity`: the one of a peer whose id is the hash of its key (`PeerID(displayName:identity:)`). Inviters verify the key
    /// before they send anything; only the key is revealed, not the certificate. Other peers need none.
    ///
    /// With a code, only those who have it can invite this peer, and both sides know that the other one has it: links that come of
    /// such an invitation are verified. The number of the code is advertised, its words are not. One wrong guess ends a code that is
    /// valid once, and so does one use: from then on every invitation is refused. See `codeEvents`.
    public init(
        peer: PeerID, service: ServiceType, info: DiscoveryInfo = .empty, identity: Identity? = nil,
        code: InvitationCode? = nil, validity: InvitationCode.Validity = .once,
        configuration: DiscoveryConfiguration = .standard
    ) {
        self.peer = peer
        self.service = service
        self.info = info
        self.identity = identity
        self.code = code
        codeValidity = validity
        self.configuration = configuration
    }

    /// Creates an advertiser from strings. Throws `invalidArgument` when they break the rules of `ServiceType` or
    /// `DiscoveryInfo`.
    public init(
        peer: PeerID, service: String, info: [String: String] = [:], identity: Identity? = nil,
        code: InvitationCode? = nil, validity: InvitationCode.Validity = .once,
        configuration: DiscoveryConfiguration = .standard
    ) throws(MultipeerError) {
        self.init(
            peer: peer, service: try ServiceType(service),
            info: try DiscoveryInfo(info), identity: identity, code: code, validity: validity,
            configuration: configuration)
    }

    deinit {
        slot.finish()
        guard let activeAdvertisement else { return }
        Task.following { await activeAdvertisement.close() }
    }

    /// The received invitations. The sequence ends when the advertiser is stopped or released.
    public nonisolated var invitations: Advertiser.Invitations { Advertiser.Invitations(slot) }

    /// What happens to the code: wrong guesses and its use. The sequence ends when the advertiser is stopped or released.
    public nonisolated var codeEvents: Advertiser.CodeEvents { Advertiser.CodeEvents(slot) }

    /// Whether the peer is being advertised.
    public var isRunning: Bool { activeAdvertisement != nil }

    /// The port at which it listens for invitations; nil while it is not running.
    public var port: UInt16? { activeAdvertisement?.port }

    /// Why other peers cannot find this one now; nil if they can, and while the advertiser is not running. With
    /// `DiscoveryConfiguration.waitsForConnectivity` it runs anyway, and `Browser.invite(at:to:)` reaches it.
    public var discoveryError: MultipeerError? {
        get async { await activeAdvertisement?.backend.obstacle }
    }

    /// Why peers that connect to this process are refused now, its sessions included: `tooManyFiles`. Nil if they are not. Files that are
    /// closed help, and so does a higher limit, as `ulimit -n 1024` sets it.
    public nonisolated var acceptError: MultipeerError? { AcceptShortage.shared.error }

    /// Waits until another machine announces this peer, too, and returns its address; nil when the advertiser is not running, when it is
    /// stopped, and when the task is cancelled. `Browser.waitUntilDuplicated` says more.
    public func waitUntilDuplicated() async -> String? {
        guard let activeAdvertisement else { return nil }
        await activeAdvertisement.backend.report(
            duplicateOf: peer.uid, to: activeAdvertisement.duplicate)
        return await activeAdvertisement.duplicate.valueUnlessCancelled() ?? nil
    }

    /// Listens for invitations and advertises the peer; returns when the peer can be found. Does nothing when it is running.
    ///
    /// Throws `discovery` when nothing can be announced here: the multicast DNS port is taken, or no interface takes part, unless
    /// the configuration says `waitsForConnectivity`;
    /// `system` when there is no port for invitations; `invalidArgument` for a configuration outside its ranges; `identity` when the
    /// peer's id is the hash of a key and the advertiser was created without the identity that has it; and `cancelled`.
    /// After an error the advertiser is not running, and holds no resources.
    public func start() async throws(MultipeerError) {
        await mutex.lock()
        defer { mutex.unlock() }
        if activeAdvertisement != nil { return }
        let backend = try configuration.chosenBackend()
        let listener = try MultipeerError.translating { () throws(SessionFault) in
            try InvitationListener(
                peer: peer, identity: identity, listening: configuration.listeningAddresses,
                sharedPort: configuration.chosenPort,
                code: code.map { ($0, valid: codeValidity) }, keyLog: configuration.keyLog,
                on: configuration.host)
        }
        do throws(MultipeerError) {
            let port = try await MultipeerError.translating { () async throws(SessionFault) in
                try await listener.start()
            }
            let announced = info
            let ongoing = try await backend.advertise(
                Advertisement(peer: peer, type: service, port: port, info: announced.numbered(code)),
                waiting: configuration.waitsForConnectivity)
            if info != announced { try await ongoing.update(info.numbered(code)) }
            activeAdvertisement = ActiveAdvertisement(
                listener: listener, advertisement: ongoing, port: port, backend: backend)
            slot.open(listener)
        } catch {
            await listener.stop()
            throw error
        }
    }

    /// Announces that the peer is gone and ends the unanswered invitations; returns when that is done. Accepted invitations go
    /// on, and links stay. Every iteration over `invitations` ends, even when the advertiser is not running.
    public func stop() async {
        await mutex.lock()
        defer { mutex.unlock() }
        slot.close()
        guard let activeAdvertisement else { return }
        self.activeAdvertisement = nil
        await activeAdvertisement.close()
    }

    /// Changes the additional information: at once while the advertiser is running, otherwise from the next `start` on.
    ///
    /// Throws `discovery` if nothing can be announced.
    public func update(info: DiscoveryInfo) async throws(MultipeerError) {
        self.info = info
        try await activeAdvertisement?.advertisement.update(info.numbered(code))
    }

    /// Changes it from strings. Throws `invalidArgument` when they break the rules of `DiscoveryInfo`.
    public func update(info: [String: String]) async throws(MultipeerError) {
        try await update(info: try DiscoveryInfo(info))
    }
}

extension DiscoveryInfo {
    fileprivate func numbered(_ code: InvitationCode?) -> DiscoveryInfo {
        var info = self
        info.codeNumber = code?.number
        return info
    }
}

/// What exists between a start and a stop.
private struct ActiveAdvertisement: Sendable {
    let listener: InvitationListener
    let advertisement: any OngoingAdvertisement
    let port: UInt16
    let backend: any DiscoveryBackend
    /// The address of another machine with the id of the peer; nil at the end.
    let duplicate = Promise<String?>()

    /// Stops announcing first, so that no new peer dials a listener that is ending.
    func close() async {
        duplicate.send(nil)
        await advertisement.stop()
        await listener.stop()
    }
}
