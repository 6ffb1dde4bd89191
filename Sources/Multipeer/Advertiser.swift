public import MultipeerCore
public import MultipeerDiscovery
public import MultipeerTransport

/// Makes the local peer known under a service type, and takes the invitations that come of it.
///
/// ```swift
/// let advertiser = try Advertiser(peer: me, service: "chat", info: ["room": "kitchen"])
/// try await advertiser.start()
/// for await invitation in advertiser.invitations {
///     try await invitation.accept(into: session)       // or ask somebody first, and decline
/// }
/// ```
///
/// It runs from `start` to `stop`, as often as you like; `stop` ends the loop over its invitations. Releasing it stops it,
/// with a goodbye; iterating over its invitations does not keep it. What was accepted by then goes on. Nothing needs the
/// main thread. Everybody on the network can read what is advertised, the name and the id of the peer among it.
///
/// With discovery on loopback alone, set `SessionConfiguration.listening` to `configuration.listening`, so that the session
/// stays there, too: otherwise it listens on every interface, and tells those whom it is linked with their addresses.
public actor Advertiser {
    /// Whom it makes known.
    public nonisolated let peer: PeerID
    /// Under what.
    public nonisolated let service: ServiceType
    /// On which interfaces, and how.
    public nonisolated let configuration: DiscoveryConfiguration
    /// What it tells besides.
    public private(set) var info: DiscoveryInfo

    private let slot = RunSlot<InvitationListener>()
    /// Held from the first to the last step of a start or stop.
    private let mutex = AsyncMutex()
    private var activeAdvertisement: ActiveAdvertisement?

    /// An advertiser that does nothing yet.
    public init(
        peer: PeerID, service: ServiceType, info: DiscoveryInfo = .empty,
        configuration: DiscoveryConfiguration = .standard
    ) {
        self.peer = peer
        self.service = service
        self.info = info
        self.configuration = configuration
    }

    /// The same from words. Throws `invalidArgument` when they break the rules of `ServiceType` or `DiscoveryInfo`.
    public init(
        peer: PeerID, service: String, info: [String: String] = [:],
        configuration: DiscoveryConfiguration = .standard
    ) throws(MultipeerError) {
        self.init(
            peer: peer, service: try MultipeerError.checking(service),
            info: try MultipeerError.checking(info), configuration: configuration)
    }

    deinit {
        slot.finish()
        guard let activeAdvertisement else { return }
        Task.following { await activeAdvertisement.close() }
    }

    /// Who wants to be linked. It ends when the advertiser is stopped or released.
    public nonisolated var invitations: Invitations { Invitations(slot) }

    /// Whether others can find the peer by it.
    public var isRunning: Bool { activeAdvertisement != nil }

    /// Listens for invitations and makes the peer known; returns when it can be found. Does nothing when it is running.
    ///
    /// Throws `discovery` when nobody can be told here: the port of multicast DNS is taken, or no interface takes part;
    /// `system` when there is no port for invitations; `invalidArgument` for a configuration outside its ranges; and
    /// `cancelled`. Then it is not running, and nothing is left behind.
    public func start() async throws(MultipeerError) {
        await mutex.lock()
        defer { mutex.unlock() }
        if activeAdvertisement != nil { return }
        let backend = try configuration.chosenBackend()
        let listener = try MultipeerError.translating { () throws(SessionFault) in
            try InvitationListener(
                peer: peer, listening: configuration.listening, keyLog: configuration.keyLog,
                on: configuration.host)
        }
        do throws(MultipeerError) {
            let port = try await MultipeerError.translating { () async throws(SessionFault) in
                try await listener.start()
            }
            let announced = info
            let ongoing = try await backend.advertise(
                Advertisement(peer: peer, type: service, port: port, info: announced))
            if info != announced { try await ongoing.update(info) }
            activeAdvertisement = ActiveAdvertisement(listener: listener, advertisement: ongoing)
            slot.open(listener)
        } catch {
            await listener.stop()
            throw error
        }
    }

    /// Says that the peer is gone, and ends the invitations that are not answered; returns when that is done. Those that
    /// were accepted go on, and links stay. Every iteration over `invitations` ends, also of one that is not running.
    public func stop() async {
        await mutex.lock()
        defer { mutex.unlock() }
        slot.close()
        guard let activeAdvertisement else { return }
        self.activeAdvertisement = nil
        await activeAdvertisement.close()
    }

    /// Tells something else besides: at once while it is running, otherwise from the next `start` on.
    ///
    /// Throws `discovery` when nobody can be told any more.
    public func update(_ info: DiscoveryInfo) async throws(MultipeerError) {
        self.info = info
        try await activeAdvertisement?.advertisement.update(info)
    }

    /// The same from words. Throws `invalidArgument` when they break the rules of `DiscoveryInfo`.
    public func update(_ info: [String: String]) async throws(MultipeerError) {
        try await update(try MultipeerError.checking(info))
    }
}

/// What runs between a start and a stop.
private struct ActiveAdvertisement: Sendable {
    let listener: InvitationListener
    let advertisement: any OngoingAdvertisement

    /// Nobody new is drawn to a listener that ends.
    func close() async {
        await advertisement.stop()
        await listener.stop()
    }
}
