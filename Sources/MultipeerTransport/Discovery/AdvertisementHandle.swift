import MultipeerDiscovery

/// A peer that a backend announces until the handle is released.
final class AdvertisementHandle<Discovery: LoopDiscovery>: OngoingAdvertisement {
    private let discovery: Discovery
    private let id: AdvertisementTable.ID

    init(_ discovery: Discovery, _ id: AdvertisementTable.ID) {
        self.discovery = discovery
        self.id = id
    }

    deinit { discovery.leave(.advertisement(id)) }

    func update(_ info: DiscoveryInfo) async throws(MultipeerError) { try await discovery.update(id, info) }

    func stop() async { await discovery.stop(id) }
}
