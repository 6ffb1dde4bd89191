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
/// nothing, so the peer is asked for at once, and only its answer brings it back. That it refuses one shows that its process is gone,
/// unless a packet filter refuses: without an answer the peer is lost soon. [mdns.missed]
final class MissedPeers: Sendable {
    private struct Search {
        /// The number of its task: one that was cancelled changes nothing here.
        var number = 0
        var task: Task<Void, Never>?
        /// After which pause the task begins, or begins again; nil once it has.
        var begins: Duration?
        /// How often no link could be made to it since there was one.
        var failures = 0
    }

    private struct State {
        var searches: [UID: Search] = [:]
        var lastNumber = 0
    }

    private let backend: any DiscoveryBackend
    private let service: ServiceType
    private let feed: DiscoveryFeed
    private let host: VirtualHost?
    private let state = Locked(State())
    /// Of the peers that are dialled at a time.
    private let permits = AsyncSemaphore<Never>(8)

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
        case .moved: break
        }
    }

    /// Ends all searches: the browser was stopped.
    func end() {
        let ended = state.withLock { state in
            defer { state.searches = [:] }
            return state.searches
        }
        for search in ended.values { search.task?.cancel() }
    }

    private func miss(_ uid: UID, afterFailure isFailure: Bool = false) {
        let wasMissed = feed.isMissed(uid)
        guard let peer = feed.miss(uid) else { return }
        state.withLock { state in
            if state.searches[uid] == nil, state.searches.count >= MissedPeers.most {
                // Those that only remember failures give way.
                state.searches = state.searches.filter { $0.value.task != nil }
                guard state.searches.count < MissedPeers.most else { return }
            }
            var search = state.searches[uid] ?? Search()
            // A search that goes on is not held back because the peer still cannot be reached.
            if !wasMissed || search.task == nil {
                search.begins = isFailure ? MissedPeers.pause(after: search.failures) : .zero
            }
            if isFailure { search.failures += 1 }
            if search.task == nil {
                state.lastNumber += 1
                search.number = state.lastNumber
                search.task = Task.following { [weak self, number = search.number] in
                    await self?.search(for: peer, number)
                }
            }
            state.searches[uid] = search
        }
    }

    /// Returns after which pause the search with that number begins, or begins again: the peer was lost, or could not be linked with.
    private func takeBeginning(_ uid: UID, _ number: Int) -> Duration? {
        state.withLock { state in
            guard state.searches[uid]?.number == number else { return nil }
            return state.searches[uid]?.begins.take()
        }
    }

    /// Ends the search with that number, unless it is to begin again and `mayBegin`.
    private func isOver(_ uid: UID, _ number: Int, mayBegin: Bool = true) -> Bool {
        state.withLock { state in
            guard state.searches[uid]?.number == number else { return true }
            if mayBegin, state.searches[uid]?.begins != nil { return false }
            state.searches[uid]?.begins = nil
            state.searches[uid]?.task = nil
            return true
        }
    }

    private static func pause(after failures: Int) -> Duration {
        failures == 0 ? .zero : min(rest.first * (1 << min(failures - 1, 8)), rest.longest)
    }

    private func linked(_ uid: UID) {
        let search = state.withLock { $0.searches.removeValue(forKey: uid) }
        search?.task?.cancel()
        feed.linked(uid)
        guard search?.task != nil, let peer = feed.peer(uid) else { return }
        Task.following { [backend, service] in await backend.regain(peer, service) }
    }

    private func search(for peer: PeerID, _ number: Int) async {
        let uid = peer.uid
        do {
            // What is known of a peer is soon forgotten, since it does not answer: its addresses are kept from here on.
            var addresses = try await backend.resolve(peer, service, within: .seconds(1))
            var end = EventLoop.currentMoment()
            repeat {
                if let pause = takeBeginning(uid, number) {
                    if pause > .zero { try await Pause.sleep(for: pause) }
                    guard feed.isMissed(uid) else { continue }
                    await backend.miss(peer, service)
                    end = EventLoop.currentMoment() + MissedPeers.longest
                }
                guard feed.isMissed(uid), EventLoop.currentMoment() < end else { continue }
                let next = EventLoop.currentMoment() + MissedPeers.interval
                switch try await dial(addresses) {
                case .reached: await backend.reached(peer, service)
                case .refused: await backend.refused(peer, service)
                case .silent: break
                }
                if addresses.isEmpty, feed.peer(uid) != nil {
                    addresses = try await backend.resolve(peer, service, within: .seconds(1))
                }
                try await Pause.sleep(for: max(next - EventLoop.currentMoment(), .zero))
            } while feed.isMissed(uid) && EventLoop.currentMoment() < end || !isOver(uid, number)
        } catch {
            // Cancelled, or nothing can be resolved or dialled here at the moment: discovery alone has to find the peer.
            _ = isOver(uid, number, mayBegin: false)
        }
    }

    private func dial(_ addresses: [SocketAddress]) async throws -> ReachabilityProbe.Outcome {
        try await permits.acquire()
        defer { permits.release() }
        return try await ReachabilityProbe.outcome(at: addresses, within: MissedPeers.interval, on: host)
    }
}
