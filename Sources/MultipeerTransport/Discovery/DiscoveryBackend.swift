package import MultipeerCore
package import MultipeerDiscovery

/// Announces and finds peers: multicast DNS by default, or the backend of a configuration. Spec 12.
///
/// Applications rarely implement one; `InMemoryDiscovery` is one for their tests.
package protocol DiscoveryBackend: Sendable {
    /// Announces a peer, and returns when it can be found on every interface. The peer is announced as long as the returned
    /// object is kept.
    ///
    /// Throws `invalidArgument`, `discovery` when nothing can be announced here, and `cancelled`.
    func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement

    /// The same; `waiting`: where nothing can be announced yet it returns at once, and the peer is announced as soon as that is
    /// possible.
    func advertise(
        _ advertisement: Advertisement, waiting: Bool
    ) async throws(MultipeerError) -> any OngoingAdvertisement

    /// Browses for the peers of a type, all but the local one, until the returned sequence is stopped or released.
    ///
    /// Throws `invalidArgument`, and `discovery` when nothing can be found here.
    func browse(
        _ type: ServiceType, hiding local: PeerID?
    ) async throws(MultipeerError) -> DiscoveryEvents

    /// The same; `waiting`: where nothing can be found yet it returns at once, and finds peers as soon as that is possible.
    func browse(
        _ type: ServiceType, hiding local: PeerID?, waiting: Bool
    ) async throws(MultipeerError) -> DiscoveryEvents

    /// Why nothing can be announced or found now; nil while that is possible.
    var obstacle: MultipeerError? { get async }

    /// Returns the addresses at which a peer can be dialled: those that it announces, link-local ones with their interface. Empty
    /// when no answer came in time.
    ///
    /// Throws `discovery` when nothing can be resolved here, and `cancelled`.
    func resolve(
        _ peer: PeerID, _ type: ServiceType, within timeLimit: Duration
    ) async throws(MultipeerError) -> [SocketAddress]

    /// Reports that a link to a peer was lost, or could not be made. Browsers lose the peer unless it answers within about ten
    /// seconds. It is asked for until it answers, is linked (`regain`), or ten minutes have passed; then the backend calls
    /// `DiscoveryFeed.cameBack`.
    func miss(_ peer: PeerID, _ type: ServiceType) async

    /// Reports that an address of a missed peer accepts connections again: the peer is asked for at once.
    func reached(_ peer: PeerID, _ type: ServiceType) async

    /// Reports that the addresses of a missed peer refuse connections: browsers lose it unless it answers within a few seconds.
    func refused(_ peer: PeerID, _ type: ServiceType) async

    /// Reports that a missed peer is linked.
    func regain(_ peer: PeerID, _ type: ServiceType) async

    /// Sends the address of another machine that announces this peer, which is announced or hidden here, once it is known. A caller
    /// that no longer waits settles the promise itself.
    func report(duplicateOf uid: UID, to found: Promise<String?>) async
}

/// A backend that works everywhere has nothing to wait for. One that does not ask by itself has nothing to ask sooner.
extension DiscoveryBackend {
    package func refused(_ peer: PeerID, _ type: ServiceType) async {}

    package func advertise(
        _ advertisement: Advertisement, waiting: Bool
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        try await advertise(advertisement)
    }

    package func browse(
        _ type: ServiceType, hiding local: PeerID?, waiting: Bool
    ) async throws(MultipeerError) -> DiscoveryEvents {
        try await browse(type, hiding: local)
    }

    package var obstacle: MultipeerError? { get async { nil } }

    /// For a backend that does not know on which machine a peer is.
    package func report(duplicateOf uid: UID, to found: Promise<String?>) async {}
}

/// A peer that is being announced. Releasing the object stops the announcement.
package protocol OngoingAdvertisement: Sendable {
    /// Announces other information in place of the previous one.
    ///
    /// Throws `cancelled` when the announcement was already stopped.
    func update(_ info: DiscoveryInfo) async throws(MultipeerError)

    /// Announces that the peer is gone, and returns when that has been sent. It may be called more than once.
    func stop() async
}

/// The contents of an announcement.
package struct Advertisement: Sendable {
    /// The announced peer.
    package var peer: PeerID
    /// The service type under which it can be found.
    package var type: ServiceType
    /// The TCP port at which the peer accepts invitations.
    package var port: UInt16
    /// The application's information about it.
    package var info: DiscoveryInfo

    /// Creates an announcement from its parts; a port of 0 is rejected when it is announced.
    package init(peer: PeerID, type: ServiceType, port: UInt16, info: DiscoveryInfo = .empty) {
        self.peer = peer
        self.type = type
        self.port = port
        self.info = info
    }
}
