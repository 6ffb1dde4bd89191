import MultipeerTransport
import TestSupport
import Testing

@unsafe @preconcurrency import MultipeerConnectivity

@Suite("The queues of delegate calls", .inTurns)
struct CallQueueTests {
    @Test(
        "browsers and advertisers call their delegates on the main queue, or on a private one if that is wanted",
        arguments: [true, false])
    func discovery(_ isMain: Bool) async throws {
        let network = TestNetwork()
        let (ann, bob) = (Device("ann", network), Device("bob", network))
        let queues = Log<Bool>()
        for device in [ann, bob] {
            if !isMain {
                device.browser.delegateCallQueue = nil
                device.advertiser.delegateCallQueue = nil
            }
            device.onEvent { event in
                switch event {
                case .found, .invited, .lost: queues.note(MainQueue.isCurrent)
                case .state, .data, .notStarted: #expect(!MainQueue.isCurrent)
                }
            }
        }
        bob.advertiser.startAdvertisingPeer()
        ann.browser.startBrowsingForPeers()
        try await ann.finds(bob)
        ann.invite(bob)
        try await ann.hears(.connected, of: bob)
        bob.advertiser.stopAdvertisingPeer()
        try await queues.until { $0 == [isMain, isMain, isMain] }
        [ann, bob].stop()
    }

    @Test(
        "an assistant calls its delegate on the main queue, or on a queue of the application",
        arguments: [true, false])
    func assistant(_ isMain: Bool) async throws {
        let network = TestNetwork()
        let ann = Device("ann", network)
        let session = MCSession(
            peer: MCPeerID(displayName: "bob"), securityIdentity: nil, encryptionPreference: .required,
            configuration: Member.loopback)
        let assistant = MCAdvertiserAssistant(
            serviceType: network.type, discoveryInfo: nil, session: session, configuration: network.discovery)
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "own", attributes: .concurrent)
        queue.setSpecific(key: key, value: 7)
        if !isMain { assistant.delegateCallQueue = queue }
        let observer = Observing { isMain ? MainQueue.isCurrent : DispatchQueue.getSpecific(key: key) == 7 }
        assistant.delegate = observer
        assistant.presenter = Declining()
        assistant.start()
        ann.browser.startBrowsingForPeers()
        try await ann.log.until { !$0.isEmpty }
        ann.browser.invitePeer(session.myPeerID, to: ann.session, withContext: nil, timeout: 30)
        try await observer.seen.until { $0 == [true, true] }
        assistant.stop()
        ann.stop()
    }

    @Test("a program whose main queue does not run is told on standard error why no delegate is called")
    func blockedMain() async throws {
        let process = try ReuseProcess("blocked-main")
        let line = try await process.firstError()
        #expect(line.hasPrefix("MCNearbyServiceBrowser: a delegate call waits for the main queue"))
        #expect(line.contains("delegateCallQueue"))
        #expect(try await process.end() == "")
    }

    @Test(
        "delegates that belong to the main actor are called there, and so is everything of a session if that is wanted"
    )
    func mainActor() async throws {
        let network = TestNetwork()
        let folder = Folder()
        let (ann, bob) = await (Application("ann", network), Application("bob", network))
        await bob.start()
        await ann.start()
        let file = try folder.file([1, 2, 3])
        try await ann.events.until { $0.contains("connected") }
        await ann.send(file)
        try await ann.events.until { $0.contains("sent") }
        try await bob.events.until { $0.contains("received file") }
        await ann.stop()
        await bob.stop()
    }
}

/// Where code runs. With `dispatchMain()`, or an asynchronous `main`, the main queue runs on any thread on Linux.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}

/// An application as it is written in Swift 6 mode for the main actor.
@MainActor
private final class Application: NSObject {
    let events = Log<String>()
    private let session: MCSession
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser
    private var friends: [MCPeerID] = []

    init(_ name: String, _ network: TestNetwork) {
        let peer = MCPeerID(displayName: name)
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        session = MCSession(
            peer: peer, securityIdentity: nil, encryptionPreference: .required, configuration: configuration)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: nil, serviceType: network.type, configuration: network.discovery)
        browser = MCNearbyServiceBrowser(
            peer: peer, serviceType: network.type, configuration: network.discovery)
        super.init()
        session.delegateCallQueue = .main
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    func start() {
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    func stop() {
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
        session.disconnect()
    }

    func send(_ file: URL) {
        for friend in friends {
            // It belongs to the main actor, where the session calls it.
            session.sendResource(at: file, withName: "file", toPeer: friend) { error in
                self.events.note(error == nil ? "sent" : "not sent")
            }
        }
    }
}

extension Application: @preconcurrency MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

extension Application: @preconcurrency MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitationHandler(true, session)
    }
}

extension Application: @preconcurrency MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        friends = session.connectedPeers
        if state == .connected { events.note("connected") }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {}

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        if error == nil { events.note("received \(resourceName)") }
    }
}

/// A delegate of an assistant that notes what holds during its calls.
private final class Observing: NSObject, MCAdvertiserAssistantDelegate, Sendable {
    let seen = Log<Bool>()
    private let isSo: @Sendable () -> Bool

    init(_ isSo: @escaping @Sendable () -> Bool) { self.isSo = isSo }

    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        seen.note(isSo())
    }

    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        seen.note(isSo())
    }
}

private struct Declining: MCInvitationPresenter {
    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool { false }
}
