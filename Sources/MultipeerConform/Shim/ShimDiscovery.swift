import Multipeer

/// Discovery under the control of the test: it reports the port at which a peer is advertised, and the test sets the
/// addresses of others. Everything else goes to another backend: multicast on the loopback interface, or none.
final class ShimDiscovery: DiscoveryBackend {
    private let base: any DiscoveryBackend
    private let known = Locked<[UID: [SocketAddress]]>([:])
    private let announced = Locked<Advertisement?>(nil)

    init(usesMulticast: Bool) throws(MultipeerError) {
        base = usesMulticast ? try DiscoveryConfiguration.loopback.chosenBackend() : InMemoryDiscovery()
    }

    /// A configuration with this backend.
    var configuration: DiscoveryConfiguration {
        var configuration = DiscoveryConfiguration.loopback
        configuration.backend = self
        return configuration
    }

    /// The last advertisement.
    var advertisement: Advertisement? { announced.withLock { $0 } }

    /// Sets the addresses of a peer.
    func place(_ peer: PeerID, at addresses: [SocketAddress]) { known.withLock { $0[peer.uid] = addresses } }

    func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        announced.withLock { $0 = advertisement }
        return try await base.advertise(advertisement)
    }

    func browse(_ type: ServiceType, hiding local: PeerID?) async throws(MultipeerError) -> DiscoveryEvents {
        try await base.browse(type, hiding: local)
    }

    func resolve(
        _ peer: PeerID, _ type: ServiceType, within timeLimit: Duration
    ) async throws(MultipeerError) -> [SocketAddress] {
        if let addresses = known.withLock({ $0[peer.uid] }) { return addresses }
        return try await base.resolve(peer, type, within: timeLimit)
    }

    func miss(_ peer: PeerID, _ type: ServiceType) async { await base.miss(peer, type) }
    func reached(_ peer: PeerID, _ type: ServiceType) async { await base.reached(peer, type) }
    func refused(_ peer: PeerID, _ type: ServiceType) async { await base.refused(peer, type) }
    func regain(_ peer: PeerID, _ type: ServiceType) async { await base.regain(peer, type) }
}
