#if SystemDiscovery
    import MultipeerDiscovery

    /// A peer that the system's responder announces.
    struct SystemAdvertisementHandle: OngoingAdvertisement {
        /// Withdraws the announcement when it is released.
        private final class Handle: Sendable {
            let discovery: SystemDiscovery
            let id: AdvertisementTable.ID

            init(_ discovery: SystemDiscovery, _ id: AdvertisementTable.ID) {
                self.discovery = discovery
                self.id = id
            }

            deinit { discovery.leave(.advertisement(id)) }
        }

        private let handle: Handle

        init(_ discovery: SystemDiscovery, _ id: AdvertisementTable.ID) { handle = Handle(discovery, id) }

        func update(_ info: DiscoveryInfo) async throws(MultipeerError) {
            try await handle.discovery.update(handle.id, info)
        }

        func stop() async { await handle.discovery.stop(handle.id) }
    }
#endif
