import MultipeerDiscovery

/// A peer that multicast DNS announces.
struct MulticastAdvertisement: OngoingAdvertisement {
    /// Withdraws the announcement when it is let go of.
    private final class Place: Sendable {
        let discovery: MulticastDiscovery
        let id: AdvertID

        init(_ discovery: MulticastDiscovery, _ id: AdvertID) {
            self.discovery = discovery
            self.id = id
        }

        deinit { discovery.leave(.advertisement(id)) }
    }

    private let place: Place

    init(_ discovery: MulticastDiscovery, _ id: AdvertID) { place = Place(discovery, id) }

    func update(_ info: DiscoveryInfo) async throws(MultipeerError) {
        try await place.discovery.update(place.id, info)
    }

    func stop() async { await place.discovery.stop(place.id) }
}
