import MultipeerCore
import MultipeerTransport
import Testing

import struct Multipeer.PeerID

@unsafe @preconcurrency import MultipeerConnectivity

/// An event that one device of a test has received.
enum DeviceEvent: Equatable, Sendable {
    case found(PeerID, [String: String]?)
    case lost(PeerID)
    case invited(PeerID, Data?)
    case notStarted(MCError.Code)
    case state(PeerID, MCSessionState)
    case data(PeerID, Data)
}

/// One device of a test: a session, its advertiser and its browser, with all their events.
///
/// Unchecked: Apple's classes are not `Sendable`, but everything of them may be called from any thread, and these are never
/// replaced.
final class Device: NSObject, @unchecked Sendable {
    /// What it does about invitations.
    enum InvitationPolicy: Sendable {
        case accepts, declines
        /// The test answers: `answers`.
        case waits
    }

    /// The handler of one invitation.
    struct Answer: Sendable {
        let give: @Sendable (Bool, MCSession?) -> Void

        func callAsFunction(_ isYes: Bool, _ session: MCSession?) { give(isYes, session) }
    }

    private struct Reaction {
        var body: (@Sendable (DeviceEvent) -> Void)?
    }

    let peer: MCPeerID
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    let browser: MCNearbyServiceBrowser
    let log = Log<DeviceEvent>()
    let manners: Locked<InvitationPolicy>
    let answers = Log<Answer>()
    private let reaction = Locked(Reaction())

    var id: PeerID { peer.id }

    init(
        _ name: String, _ network: TestNetwork, _ manners: InvitationPolicy = .accepts,
        info: [String: String]? = nil,
        _ preference: MCEncryptionPreference = .required
    ) {
        peer = MCPeerID(displayName: name)
        self.manners = Locked(manners)
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        session = MCSession(
            peer: peer, securityIdentity: nil, encryptionPreference: preference, configuration: configuration)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: info, serviceType: network.type, configuration: network.discovery)
        browser = MCNearbyServiceBrowser(
            peer: peer, serviceType: network.type, configuration: network.discovery)
        super.init()
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    /// Sets the code that runs after each event, on the thread of the event.
    func onEvent(_ body: (@Sendable (DeviceEvent) -> Void)?) { reaction.withLock { $0.body = body } }

    func start() {
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    func stop() {
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
        session.disconnect()
    }

    func finds(_ other: Device) async throws {
        try await log.until { $0.contains { $0.isFound(other.id) } }
    }

    func invite(_ other: Device, context: Data? = nil, timeout: TimeInterval = 30) {
        browser.invitePeer(other.peer, to: session, withContext: context, timeout: timeout)
    }

    func hears(_ state: MCSessionState, of other: Device) async throws {
        try await log.until { $0.contains(.state(other.id, state)) }
    }

    /// Returns the states of a peer so far.
    func states(of other: Device) -> [MCSessionState] {
        log.all.compactMap { if case .state(other.id, let state) = $0 { state } else { nil } }
    }

    /// Waits until all events that are in the session's queue by now are delivered.
    func settles() async {
        let signal = Promise<Void>()
        session.nearbyConnectionData(forPeer: MCPeerID(displayName: "nobody")) { _, _ in signal.send(()) }
        await signal.value()
    }

    fileprivate func note(_ heard: DeviceEvent) {
        log.note(heard)
        reaction.withLock { $0.body }?(heard)
    }
}

/// A value that is not `Sendable` and may be used from any thread.
final class Box<Value>: @unchecked Sendable {
    // Unchecked: the lock is what is safe here, and the value is of a class of Apple's, of which everything may be called from
    // anywhere.
    private let lock = NSLock()
    private var held: Value

    init(_ value: Value) { held = value }

    var value: Value {
        get { lock.withLock { held } }
        set {
            // What it held may end its life, which is none of the lock's business.
            let former = lock.withLock {
                defer { held = newValue }
                return held
            }
            withExtendedLifetime(former) {}
        }
    }
}

extension DeviceEvent {
    func isFound(_ peer: PeerID) -> Bool {
        if case .found(peer, _) = self { true } else { false }
    }
}

extension Device: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        note(.state(peerID.id, state))
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        note(.data(peerID.id, data))
    }

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
    ) {}
}

extension Device: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        switch manners.withLock({ $0 }) {
        case .accepts: invitationHandler(true, session)
        case .declines: invitationHandler(false, nil)
        case .waits: answers.note(Answer(give: invitationHandler))
        }
        note(.invited(peerID.id, context))
    }

    func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
        note(.notStarted((error as? MCError)?.code ?? .unknown))
    }
}

extension Device: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        note(.found(peerID.id, info))
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) { note(.lost(peerID.id)) }

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        note(.notStarted((error as? MCError)?.code ?? .unknown))
    }
}
