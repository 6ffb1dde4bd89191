import MultipeerDiscovery

/// A backend that is an actor pinned to its loop. What it has handed out is released on any thread.
protocol LoopDiscovery: Actor, LoopClient, DiscoveryBackend {
    nonisolated var loop: EventLoop { get }
    /// Handles that were released on other threads.
    nonisolated var withdrawals: Locked<[DiscoveryWithdrawal]> { get }

    func update(_ id: AdvertisementTable.ID, _ info: DiscoveryInfo) throws(MultipeerError)
    /// Returns when the goodbyes have been sent.
    func stop(_ id: AdvertisementTable.ID) async
    func withdraw(_ id: AdvertisementTable.ID)
    func stopBrowsing(_ id: BrowseID)
}

enum DiscoveryWithdrawal: Sendable {
    case advertisement(AdvertisementTable.ID)
    case browse(BrowseID)
}

extension LoopDiscovery {
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

    /// Returns the given loop, or the next one of the process.
    nonisolated static func chosenLoop(_ given: EventLoop?) throws(MultipeerError) -> EventLoop {
        if let given { return given }
        return try MultipeerError.translating { () throws(SessionFault) in
            try SessionFault.network { () throws(SocketFault) in try EventLoop.next() }
        }
    }
}
