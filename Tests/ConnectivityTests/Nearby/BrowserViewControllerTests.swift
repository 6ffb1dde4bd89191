import MultipeerTransport
import Swift5Client
import TestSupport
import Testing

@unsafe @preconcurrency import MultipeerConnectivity

@Suite("The browser's controller", .inTurns)
@MainActor
struct BrowserViewControllerTests {
    @Test("nearby peers are shown with their states, and an invited one is connected")
    func invites() async throws {
        let network = TestNetwork()
        let (bob, carl) = (
            Device("bob", network, info: ["room": "attic"]), Device("carl", network, .declines)
        )
        let view = View(network)
        view.controller.start()
        bob.advertiser.startAdvertisingPeer()
        try await view.shows([.found])
        carl.advertiser.startAdvertisingPeer()
        try await view.shows([.found, .found])
        #expect(view.controller.nearbyPeers.map(\.peerID) == [bob.peer, carl.peer])
        #expect(view.controller.nearbyPeers.map(\.discoveryInfo) == [["room": "attic"], nil])
        #expect(!view.controller.canFinish)
        #expect(!view.controller.done())
        #expect(view.controller.invite(bob.peer))
        #expect(!view.controller.invite(bob.peer))
        try await view.shows([.connected, .found])
        #expect(view.controller.canFinish)
        view.controller.invite(carl.peer)
        try await view.shows([.connected, .notConnected])
        // A connected peer is shown, found or not.
        bob.advertiser.stopAdvertisingPeer()
        carl.advertiser.stopAdvertisingPeer()
        try await view.shows([.connected])
        bob.session.disconnect()
        try await view.shows([])
        #expect(view.verdicts == [])
        view.controller.cancel()
        #expect(view.verdicts == ["cancelled"])
        [bob, carl].stop()
    }

    @Test("code of Swift 5 that is not isolated makes, subclasses and uses a controller on the main thread")
    func withoutIsolation() {
        let session = MCSession(peer: MCPeerID(displayName: "ann"))
        let choosing = Choosing(session: session)
        #expect(!choosing.hasFinished)
        #expect(ownController(session).minimumNumberOfPeers == 4)
    }

    @Test("a peer that connected in another way is shown, too, and done() notifies the delegate")
    func others() async throws {
        let network = TestNetwork()
        let bob = Device("bob", network)
        let view = View(network)
        bob.browser.startBrowsingForPeers()
        view.advertiser.startAdvertisingPeer()
        view.controller.start()
        let own = view.peer.id
        try await bob.log.until { $0.contains { $0.isFound(own) } }
        bob.browser.invitePeer(view.peer, to: bob.session, withContext: nil, timeout: 30)
        try await view.shows([.connected])
        #expect(view.controller.done())
        #expect(view.verdicts == ["finished"])
        #expect(view.controller.nearbyPeers.isEmpty)
        #expect(view.session.connectedPeers == [bob.peer])
        // It can be shown again.
        view.controller.start()
        try await view.shows([.connected])
        view.controller.stop()
        bob.stop()
    }

    @Test("the delegate may hide peers, and the maximum number of peers is enforced")
    func limits() async throws {
        let network = TestNetwork()
        let devices = ["bob", "carl", "hidden"].map { Device($0, network) }
        let view = View(network)
        view.hidden = "hidden"
        view.controller.maximumNumberOfPeers = 2
        view.controller.start()
        for device in devices.reversed() { device.advertiser.startAdvertisingPeer() }
        try await view.shows([.found, .found])
        let bob = try #require(view.controller.nearbyPeers.first { $0.peerID == devices[0].peer })
        view.controller.invite(bob.peerID)
        #expect(!view.controller.canInvite)
        #expect(!view.controller.invite(devices[1].peer))
        #expect(!view.controller.invite(devices[2].peer))
        view.controller.stop()
        devices.stop()
    }

    @Test("the limits of peers are 2 to 8, as in Apple's framework")
    func numbers() {
        let view = View(TestNetwork())
        #expect(view.controller.minimumNumberOfPeers == 2)
        #expect(view.controller.maximumNumberOfPeers == 8)
        for (given, meant) in [(0, 2), (1, 2), (3, 3), (8, 8), (9, 8), (Int.max, 8), (Int.min, 2)] {
            view.controller.minimumNumberOfPeers = given
            view.controller.maximumNumberOfPeers = given
            #expect(view.controller.minimumNumberOfPeers == meant)
            #expect(view.controller.maximumNumberOfPeers == meant)
        }
        #expect(view.controller.session === view.session)
        #expect(view.controller.browser?.delegate === view.controller)
    }

    @Test("a failure to browse is shown")
    func failure() async throws {
        let view = View(.nowhere)
        view.controller.start()
        try await view.until { $0.failure != nil }
        #expect((view.controller.failure as? MCError)?.code == .unavailable)
        view.controller.cancel()
    }

    @Test("a released controller stops")
    func letGo() async throws {
        let network = TestNetwork()
        let bob = Device("bob", network)
        bob.advertiser.startAdvertisingPeer()
        weak var controller: MCBrowserViewController?
        do {
            let view = View(network)
            controller = view.controller
            view.controller.start()
            try await view.shows([.found])
        }
        for _ in 0..<3_000 where controller != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(controller == nil)
        bob.stop()
    }
}

/// A user in front of a controller.
@MainActor
private final class View: NSObject, @preconcurrency MCBrowserViewControllerDelegate {
    let peer = MCPeerID(displayName: "ann")
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    let controller: MCBrowserViewController
    var verdicts: [String] = []
    var hidden: String?
    private let changes = Log<Int>()

    init(_ network: TestNetwork) {
        session = MCSession(
            peer: peer, securityIdentity: nil, encryptionPreference: .required, configuration: .loopback)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: nil, serviceType: network.type, configuration: network.discovery)
        controller = MCBrowserViewController(
            browser: MCNearbyServiceBrowser(
                peer: peer, serviceType: network.type, configuration: network.discovery),
            session: session)
        super.init()
        advertiser.delegate = self
        controller.delegate = self
        controller.onChange = { [changes] in changes.note(0) }
    }

    func shows(_ states: [MCNearbyPeer.State]) async throws {
        try await until { $0.nearbyPeers.map(\.state) == states }
    }

    func until(_ isSo: (MCBrowserViewController) -> Bool) async throws {
        var seen = 0
        while !isSo(controller) {
            try await changes.until { [seen] in $0.count > seen }
            seen = changes.all.count
        }
    }

    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        verdicts.append("finished")
    }

    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        verdicts.append("cancelled")
    }

    func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool {
        peerID.displayName != hidden
    }
}

extension View: MCNearbyServiceAdvertiserDelegate {
    nonisolated func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        // As in an app whose window answers.
        Task { @MainActor in invitationHandler(true, self.session) }
    }
}
