import Multipeer
import MultipeerCore
import MultipeerTransport

/// The implementation of an `MCNearbyServiceBrowser`, which it does not keep alive, nor its delegate.
final class BrowserCore: Sendable {
    let runs: NearbyRuns<BrowsingRun>
    private let peer: PeerID
    private let type: Result<ServiceType, MCError>
    private let configuration: DiscoveryConfiguration
    private let owner: Owner

    /// No lock is held during a call of other code.
    private final class Owner: Sendable {
        struct State {
            weak var browser: MCNearbyServiceBrowser?
            weak var delegate: (any MCNearbyServiceBrowserDelegate)?
        }

        let state = Locked(State())

        func withDelegate(_ body: (MCNearbyServiceBrowser, any MCNearbyServiceBrowserDelegate) -> Void) {
            guard let browser = state.withLock({ $0.browser }), let delegate = browser.delegate else {
                return
            }
            body(browser, delegate)
        }

        func tell(_ event: DiscoveredPeer.Event) {
            switch event {
            case .found(let found): tell(found)
            case .updated(let found):
                withDelegate { $1.browser($0, lostPeer: MCPeerID(found.peer)) }
                tell(found)
            case .lost(let peer): withDelegate { $1.browser($0, lostPeer: MCPeerID(peer)) }
            }
        }

        private func tell(_ found: DiscoveredPeer) {
            withDelegate {
                $1.browser($0, foundPeer: MCPeerID(found.peer), withDiscoveryInfo: found.applicationInfo)
            }
        }
    }

    init(
        _ peer: PeerID, _ type: Result<ServiceType, MCError>, _ configuration: DiscoveryConfiguration
    ) {
        (self.peer, self.type, self.configuration) = (peer, type, configuration)
        let owner = Owner()
        self.owner = owner
        runs = NearbyRuns(CallbackQueue("MCNearbyServiceBrowser", on: .main)) { error in
            owner.withDelegate { $1.browser($0, didNotStartBrowsingForPeers: error) }
        }
    }

    func with(_ configuration: DiscoveryConfiguration) -> BrowserCore {
        BrowserCore(peer, type, configuration)
    }

    /// Called once, when the browser exists.
    func attach(_ browser: MCNearbyServiceBrowser) { owner.state.withLock { $0.browser = browser } }

    var delegate: (any MCNearbyServiceBrowserDelegate)? {
        get { owner.state.withLock { $0.delegate } }
        set { owner.state.withLock { $0.delegate = newValue } }
    }

    func start() {
        runs.start(of: type) { type in
            BrowsingRun(Browser(peer: peer, service: type, configuration: configuration)) {
                [runs, owner] run, event in
                await runs.callbacks.run {
                    guard runs.isWanted(run) else { return }
                    owner.tell(event)
                }
            }
        }
    }

    /// Invites a peer, whether or not the browser runs: a peer that was found earlier may still be present.
    func invite(_ other: PeerID, to core: SessionCore, context: [UInt8]?, timeout: Duration) {
        guard case .success(let type) = type, core.fault == nil else { return core.report(other) }
        let browser = Browser(peer: peer, service: type, configuration: configuration)
        // On the session's own loop, where calls keep the order in which they were made: an invitation begins after an earlier
        // `disconnect`, and a later one ends it.
        Task(executorPreference: core.native.executor) {
            _ = await browser.invite(
                known: other, to: core.native, context: context, timeout: timeout, isMarked: true)
        }
    }
}

/// A browser of the native API, from a start to a stop, with the consumer of its events, one after the other.
final class BrowsingRun: NearbyRun {
    private let native: Browser
    private let receive: @Sendable (BrowsingRun, DiscoveredPeer.Event) async -> Void
    private let taking = Locked<Task<Void, Never>?>(nil)

    init(_ native: Browser, _ receive: @escaping @Sendable (BrowsingRun, DiscoveredPeer.Event) async -> Void)
    {
        self.native = native
        self.receive = receive
    }

    func start() async throws(MultipeerError) {
        try await native.start()
        let events = native.events
        let task = Task { for await event in events { await receive(self, event) } }
        taking.withLock { $0 = task }
    }

    func stop() async {
        taking.withLock { $0.take() }?.cancel()
        await native.stop()
    }
}
