import MultipeerConnectivity

// Sessions and their delegates.

// idiom: one object is the delegate of everything

final class Everything: SilentSessionDelegate, MCNearbyServiceAdvertiserDelegate,
    MCNearbyServiceBrowserDelegate
{
    let session = MCSession(
        peer: MCPeerID(displayName: "all"), securityIdentity: nil, encryptionPreference: .required)
    private(set) lazy var advertiser = MCNearbyServiceAdvertiser(
        peer: session.myPeerID, discoveryInfo: nil, serviceType: Service.type)
    private(set) lazy var browser = MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: Service.type)

    func start() {
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) { invitationHandler(true, session) }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) { browser.invitePeer(peerID, to: session, withContext: nil, timeout: 10) }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: closures instead of a delegate

final class ClosureSessionDelegate: SilentSessionDelegate {
    var onState: ((MCPeerID, MCSessionState) -> Void)?
    var onData: ((Data, MCPeerID) -> Void)?

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        onState?(peerID, state)
    }
    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        onData?(data, peerID)
    }
}

// idiom: the application's own delegate protocol, with a weak delegate

protocol ChatServiceDelegate: AnyObject {
    func chatService(_ service: ChatService, didReceive text: String, from name: String)
    func chatService(_ service: ChatService, peersDidChange names: [String])
}

final class ChatService: SilentSessionDelegate {
    weak var delegate: ChatServiceDelegate?

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        delegate?.chatService(self, peersDidChange: session.connectedPeers.map(\.displayName))
    }
    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        delegate?.chatService(
            self, didReceive: String(decoding: data, as: UTF8.self), from: peerID.displayName)
    }
}

// idiom: several weak listeners

final class Loudspeaker: SilentSessionDelegate {
    private struct Listener { weak var object: MCSessionDelegate? }
    private var listeners: [Listener] = []

    func add(_ listener: MCSessionDelegate) {
        listeners.removeAll { $0.object == nil || $0.object === listener }
        listeners.append(Listener(object: listener))
    }

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        listeners.forEach { $0.object?.session(session, peer: peerID, didChange: state) }
    }
}

// idiom: a private object as the delegate, so that the service need not inherit from NSObject

struct Connection {
    private final class Listener: SilentSessionDelegate { var isUp = false }
    private let listener = Listener()
    let session: MCSession

    init(peer: MCPeerID) {
        session = MCSession(peer: peer)
        session.delegate = listener
    }

    var isUp: Bool { listener.isUp }
}

// idiom: a delegate of two sessions that distinguishes them

final class TwoSessions: SilentSessionDelegate {
    let control = MCSession(peer: MCPeerID(displayName: "two"))
    private(set) lazy var media = MCSession(peer: control.myPeerID)
    private(set) var log: [String] = []

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        guard session === control || session == media else { return }
        log.append("\(session === control ? "control" : "media"): \(state)")
    }
}

// idiom: a greeting to a peer that has just connected

final class Greeter: SilentSessionDelegate {
    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        guard case .connected = state, session.connectedPeers.contains(peerID) else { return }
        try? session.send(
            Data("hello, I am \(session.myPeerID.displayName)".utf8), toPeers: [peerID], with: .reliable)
    }
}

// idiom: every certificate is accepted

final class AcceptingDelegate: SilentSessionDelegate {
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) { certificateHandler(true) }
}

// idiom: only a peer that presents a certificate is accepted

final class StrictDelegate: SilentSessionDelegate {
    private(set) var refused: [MCPeerID] = []

    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        guard let leaf = certificate?.first else {
            refused.append(peerID)
            return certificateHandler(false)
        }
        certificateHandler("\(leaf)".isEmpty == false)
    }
}

// idiom: session, advertiser and browser are stopped in one function

func leave(
    _ session: MCSession?, _ advertiser: MCNearbyServiceAdvertiser?, _ browser: MCNearbyServiceBrowser?
) {
    advertiser?.stopAdvertisingPeer()
    advertiser?.delegate = nil
    browser?.stopBrowsingForPeers()
    browser?.delegate = nil
    session?.disconnect()
    session?.delegate = nil
}

// idiom: connecting by hand, with exchanged connection data

func connect(_ session: MCSession, to peer: MCPeerID, with data: Data, isUnwanted: Bool) {
    session.connectPeer(peer, withNearbyConnectionData: data)
    if isUnwanted { session.cancelConnectPeer(peer) }
}
