import MultipeerCore
import MultipeerDiscovery

/// A backend that is an actor pinned to its loop. What it has handed out is released on any thread.
protocol LoopDiscovery: Actor, LoopClient, DiscoveryBackend {
    nonisolated var loop: EventLoop { get }
    /// Handles that were released on other threads.
    nonisolated var withdrawals: Locked<[DiscoveryWithdrawal]> { get }
    var requests: DiscoveryRequests { get set }

    /// Passes a change of the advertisements to the engine, and carries out its actions.
    func apply(_ change: AdvertisementTable.Change)
    /// Returns when the goodbyes have been sent.
    func stop(_ id: AdvertisementTable.ID) async
    func stopBrowsing(_ id: BrowseID)
}

enum DiscoveryWithdrawal: Sendable {
    case advertisement(AdvertisementTable.ID)
    case browse(BrowseID)
}

extension LoopDiscovery {
    func update(_ id: AdvertisementTable.ID, _ info: DiscoveryInfo) throws(MultipeerError) {
        guard requests.contains(id) else { throw .advertisementStopped }
        apply(requests.update(id, info))
    }

    func withdraw(_ id: AdvertisementTable.ID) {
        guard requests.contains(id) else { return }
        apply(requests.remove(id))
    }

    /// Ends on the loop what is no longer used. From any thread, without waiting.
    nonisolated func leave(_ withdrawal: DiscoveryWithdrawal) {
        withdrawals.withLock { $0.append(withdrawal) }
        loop.wake(self)
    }

    /// Ends what was released.
    func carryOutWithdrawals() {
        let withdrawals = withdrawals.withLock { withdrawals in
            defer { withdrawals = [] }
            return withdrawals
        }
        for withdrawal in withdrawals {
            switch withdrawal {
            case .advertisement(let id): withdraw(id)
            case .browse(let id): stopBrowsing(id)
            }
        }
    }

    /// Waits for an advertisement's registration, and returns its handle. `waiting`: the caller goes on where nothing can be
    /// announced.
    func registered(
        _ advertised: DiscoveryRequests.Advertised, of peer: PeerID, waiting: Bool
    ) async throws(MultipeerError) -> AdvertisementHandle<Self> {
        let registration = advertised.registration
        switch await registration.value(onCancel: { registration.send(.cancelled) }) {
        case .registered: break
        case .refused where waiting: break
        case .refused(let error):
            withdraw(advertised.id)
            throw error
        case .cancelled:
            withdraw(advertised.id)
            throw MultipeerError(.cancelled, "advertising \(peer) was cancelled")
        }
        return AdvertisementHandle(self, advertised.id)
    }

    /// Waits for the end of a resolution, and returns the peer's addresses.
    func resolved(
        _ answer: Promise<Resolution?>, of peer: PeerID
    ) async throws(MultipeerError) -> [SocketAddress] {
        guard let resolution = await answer.value(onCancel: { answer.send(nil) }) else {
            throw MultipeerError(.cancelled, "looking for \(peer) was cancelled")
        }
        return resolution.candidates.compactMap { SocketAddress($0) }
    }

    /// Returns the events of a browse, which ends with them. They keep this actor alive: their reader is a user.
    func events(_ feed: DiscoveryFeed, of id: BrowseID) -> DiscoveryEvents {
        DiscoveryEvents(feed) { self.leave(.browse(id)) }
    }

    /// Returns the given loop, or the next one of the process.
    nonisolated static func chosenLoop(_ given: EventLoop?) throws(MultipeerError) -> EventLoop {
        if let given { return given }
        return try MultipeerError.translating { () throws(SessionFault) in
            try SessionFault.network { () throws(SocketFault) in try EventLoop.next() }
        }
    }
}
