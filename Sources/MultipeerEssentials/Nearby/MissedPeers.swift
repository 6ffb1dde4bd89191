import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport

/// What a browser does about the peers that it has found and this process has lost, until each is there again. Spec 12.4.
///
/// ```
///   found ──a link was lost, or none could be made──▶ missed ──it answers──▶ lost and found
///                                                       └──linked, or 10 minutes──▶ (no event)
/// ```
///
/// The backend asks for a missed peer; here its known addresses are dialled, every two seconds. That it accepts a connection proves
/// nothing, so the peer is asked for at once, and only its answer brings it back. [mdns.missed]
final class MissedPeers: Sendable {
    private struct Search {
        var task: Task<Void, Never>?
        /// How often no link could be made to it since there was one.
        var failures = 0
    }

    private let backend: any DiscoveryBackend
    private let service: ServiceType
    private let feed: DiscoveryFeed
    private let host: VirtualHost?
    private let searches = Locked<[UID: Search]>([:])

    /// How often the known addresses are dialled.
    private static let interval = Duration.seconds(2)
    private static let longest = Duration.seconds(600)
    /// How long a peer is left alone to which no link could be made although it was there: at first, doubled with each failure.
    private static let rest = (first: Duration.seconds(5), longest: Duration.seconds(300))
    private static let most = 64

    init(
        _ backend: any DiscoveryBackend, _ service: ServiceType, _ feed: DiscoveryFeed, on host: VirtualHost?
    ) {
        (self.backend, self.service, self.feed, self.host) = (backend, service, feed, host)
    }

    func note(_ event: PeerLossNotifier.Event) {
        switch event {
        case .lost(let uid): miss(uid)
        case .failed(let uid): miss(uid, afterFailure: true)
        case .linked(let uid): linked(uid)
        }
    }

    /// Ends all searches: the browser was stopped.
    func end() {
        let ended = searches.withLock { searches in
            defer { searches = [:] }
            return searches
        }
        for search in ended.values { search.task?.cancel() }
    }

    private func miss(_ uid: UID, afterFailure isFailure: Bool = false) {
        guard let peer = feed.miss(uid) else { return }
        searches.withLock { searches in
            var search = searches[uid] ?? Search()
            guard searches[uid] != nil || searches.count < MissedPeers.most else { return }
            let pause = isFailure ? MissedPeers.pause(after: search.failures) : .zero
            if isFailure { search.failures += 1 }
            if search.task == nil {
                search.task = Task.following { [weak self] in
                    await self?.search(for: peer, after: pause)
                    self?.searches.withLock { $0[uid]?.task = nil }
                }
            }
            searches[uid] = search
        }
    }

    private static func pause(after failures: Int) -> Duration {
        failures == 0 ? .zero : min(rest.first * (1 << min(failures - 1, 8)), rest.longest)
    }

    private func linked(_ uid: UID) {
        let search = searches.withLock { $0.removeValue(forKey: uid) }
        search?.task?.cancel()
        feed.linked(uid)
        guard search?.task != nil, let peer = feed.peer(uid) else { return }
        Task.following { [backend, service] in await backend.regain(peer, service) }
    }

    private func search(for peer: PeerID, after pause: Duration) async {
        let start = EventLoop.currentMoment()
        do {
            // What is known of a peer is soon forgotten, since it does not answer: its addresses are kept from here on.
            var addresses = try await backend.resolve(peer, service, within: .seconds(1))
            if pause > .zero { try await Pause.sleep(for: pause) }
            await backend.miss(peer, service)
            while feed.isMissed(peer.uid), EventLoop.currentMoment() < start + MissedPeers.longest {
                let next = EventLoop.currentMoment() + MissedPeers.interval
                if try await ReachabilityProbe.reaches(addresses, within: MissedPeers.interval, on: host) {
                    await backend.reached(peer, service)
                }
                if addresses.isEmpty, feed.peer(peer.uid) != nil {
                    addresses = try await backend.resolve(peer, service, within: .seconds(1))
                }
                try await Pause.sleep(for: max(next - EventLoop.currentMoment(), .zero))
            }
        } catch {
            // Cancelled, or nothing can be resolved or dialled here at the moment: discovery alone has to find the peer.
            return
        }
    }
}
