import Multipeer
import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport

/// A network in memory that reports which peer is doubted first, and can be made to refuse.
actor WatchedDiscovery: DiscoveryBackend {
    private let base = InMemoryDiscovery()
    private let doubted = Promise<PeerID>()
    private var refusals = 0

    /// Makes the next `count` calls that start something fail.
    func refuse(_ count: Int) { refusals = count }

    func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        try refuseOnce()
        return try await base.advertise(advertisement)
    }

    func browse(
        _ type: ServiceType, hiding local: PeerID?
    ) async throws(MultipeerError) -> DiscoveryEvents {
        try refuseOnce()
        return try await base.browse(type, hiding: local)
    }

    func resolve(
        _ peer: PeerID, _ type: ServiceType, within timeLimit: Duration
    ) async throws(MultipeerError) -> [SocketAddress] {
        try await base.resolve(peer, type, within: timeLimit)
    }

    func miss(_ peer: PeerID, _ type: ServiceType) { doubted.send(peer) }
    func reached(_ peer: PeerID, _ type: ServiceType) {}
    func regain(_ peer: PeerID, _ type: ServiceType) {}

    /// Waits for the first one to be doubted; for one task.
    nonisolated func firstDoubted() async -> PeerID? { await doubted.value() }

    private func refuseOnce() throws(MultipeerError) {
        guard refusals > 0 else { return }
        refusals -= 1
        throw MultipeerError(.discovery, "refused")
    }
}
