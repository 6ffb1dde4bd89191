import MultipeerDiscovery

/// A peer that multicast DNS announces.
struct MulticastAdvertisement: OngoingAdvertisement {
    /// Withdraws the announcement when it is released.
    private final class Handle: Sendable {
        let discovery: MulticastDiscovery
        let id: AdvertisementTable.ID

        init(_ discovery: MulticastDiscovery, _ id: AdvertisementTable.ID) {
            self.discovery = discovery
            self.id = id
        }

        deinit { discovery.leave(.advertisement(id)) }
    }

    private let handle: Handle

    init(_ discovery: MulticastDiscovery, _ id: AdvertisementTable.ID) { handle = Handle(discovery, id) }

    func update(_ info: DiscoveryInfo) async throws(MultipeerError) {
        try await handle.discovery.update(handle.id, info)
    }

    func stop() async { await handle.discovery.stop(handle.id) }
}
