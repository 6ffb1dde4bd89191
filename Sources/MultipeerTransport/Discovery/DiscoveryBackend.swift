public import MultipeerCore
public import MultipeerDiscovery

/// How peers are announced and found: multicast DNS unless a configuration names another. Spec 12.
///
/// Applications rarely write one; `InMemoryDiscovery` is one for their tests.
public protocol DiscoveryBackend: Sendable {
    /// Makes a peer known, and returns when it can be found on every interface. It can be as long as the answer is kept.
    ///
    /// Throws `invalidArgument`, `discovery` when nothing can be announced here, and `cancelled`.
    func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement

    /// Looks for the peers of a type, all but the local one, until the answer is stopped or let go of.
    ///
    /// Throws `invalidArgument`, and `discovery` when nothing can be found here.
    func browse(
        _ type: ServiceType, hiding local: PeerID?
    ) async throws(MultipeerError) -> DiscoveryEvents

    /// Where a peer can be dialled: the addresses that it announces, those of link-local ones with their interface. None
    /// when nobody said any in time.
    ///
    /// Throws `discovery` when nobody can be asked, and `cancelled`.
    func resolve(
        _ peer: PeerID, _ type: ServiceType, within patience: Duration
    ) async throws(MultipeerError) -> [SocketAddress]

    /// Says that a peer seems to be gone: whoever browses loses it unless it answers, within some ten seconds.
    func reconfirm(_ peer: PeerID, _ type: ServiceType) async
}

/// A peer that is being announced. Whoever lets go of it, stops it.
public protocol OngoingAdvertisement: Sendable {
    /// Announces other information in the place of what was said before.
    ///
    /// Throws `cancelled` when it was stopped before.
    func update(_ info: DiscoveryInfo) async throws(MultipeerError)

    /// Tells everybody that the peer is gone, and returns when that has been said. More than once is no harm.
    func stop() async
}

/// What is announced of a peer.
public struct Advertisement: Sendable {
    /// Who it is.
    public var peer: PeerID
    /// What it can be found under.
    public var type: ServiceType
    /// The TCP port at which it takes invitations.
    public var port: UInt16
    /// What the application says about it.
    public var info: DiscoveryInfo

    /// An announcement from its parts; a port of 0 is refused when it is made.
    public init(peer: PeerID, type: ServiceType, port: UInt16, info: DiscoveryInfo = .empty) {
        self.peer = peer
        self.type = type
        self.port = port
        self.info = info
    }
}
