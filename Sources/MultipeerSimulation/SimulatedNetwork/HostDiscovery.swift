import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport

/// Discovery on one machine of a network.
struct HostDiscovery: DiscoveryBackend {
    /// The pause between two look-ups of a peer that is not announced yet.
    private static let pause = Duration.milliseconds(250)

    private let discovery: SimulatedDiscovery
    private let host: VirtualHost

    init(_ discovery: SimulatedDiscovery, _ host: VirtualHost) {
        (self.discovery, self.host) = (discovery, host)
    }

    func advertise(
        _ advertisement: Advertisement
    ) async throws(MultipeerError) -> any OngoingAdvertisement {
        if advertisement.port == 0 { throw .portMissing }
        try check()
        return Announced(discovery, discovery.add(advertisement, on: host))
    }

    func browse(
        _ type: ServiceType, hiding local: PeerID?
    ) async throws(MultipeerError) -> DiscoveryEvents {
        try check()
        let (id, feed) = discovery.browse(type, hiding: local?.uid, on: host)
        return DiscoveryEvents(feed) { [weak discovery] in discovery?.stop(id) }
    }

    func resolve(
        _ peer: PeerID, _ type: ServiceType, within timeout: Duration
    ) async throws(MultipeerError) -> [SocketAddress] {
        let time = discovery.machines.time
        let end = time.now + timeout
        while true {
            if let address = discovery.address(of: peer.uid, type, from: host) { return [address] }
            if time.now >= end { return [] }
            do { try await time.sleep(until: time.now + HostDiscovery.pause) } catch {
                throw MultipeerError(.cancelled, "looking for \(peer) was cancelled")
            }
        }
    }

    func reconfirm(_ peer: PeerID, _ type: ServiceType) async { discovery.doubt(peer.uid, type, on: host) }

    private func check() throws(MultipeerError) {
        guard host.isAlive else { throw MultipeerError(.discovery, "the machine \(host.name) was killed") }
    }
}

extension HostDiscovery {
    private struct Announced: OngoingAdvertisement {
        /// Withdraws the announcement when it is released.
        final class Place: Sendable {
            let discovery: SimulatedDiscovery
            let id: Int

            init(_ discovery: SimulatedDiscovery, _ id: Int) { (self.discovery, self.id) = (discovery, id) }

            deinit { discovery.remove(id) }
        }

        let place: Place

        init(_ discovery: SimulatedDiscovery, _ id: Int) { place = Place(discovery, id) }

        func update(_ info: DiscoveryInfo) async throws(MultipeerError) {
            guard place.discovery.update(place.id, info) else { throw .advertisementStopped }
        }

        func stop() async { place.discovery.remove(place.id) }
    }
}
