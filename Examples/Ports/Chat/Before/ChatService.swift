import MultipeerConnectivity

#if canImport(UIKit)
    import UIKit
#endif

/// A line of the chat, as it is sent and shown.
struct ChatMessage: Codable {
    var id = UUID()
    let author: String
    let text: String
    var date = Date()
}

/// What the screen of the chat shows; called on the main queue.
protocol ChatServiceDelegate: AnyObject {
    func chat(_ chat: ChatService, didAdd message: ChatMessage)
    func chat(_ chat: ChatService, didChangeRoster roster: [String])
    func chat(_ chat: ChatService, didFail text: String)
}

/// The network and the model of a chat: everyone nearby is invited, and every invitation is accepted.
final class ChatService: NSObject {
    weak var delegate: ChatServiceDelegate?
    private(set) var messages: [ChatMessage] = []
    var roster: [String] { session.connectedPeers.map(\.displayName).sorted() }

    private let me: MCPeerID
    private let session: MCSession
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser

    init(name: String, serviceType: String = "acme-chat") {
        me = ChatService.storedPeer(name)
        session = MCSession(peer: me, securityIdentity: nil, encryptionPreference: .required)
        advertiser = MCNearbyServiceAdvertiser(peer: me, discoveryInfo: ["v": "1"], serviceType: serviceType)
        browser = MCNearbyServiceBrowser(peer: me, serviceType: serviceType)
        super.init()
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    #if canImport(UIKit)
        convenience override init() { self.init(name: UIDevice.current.name) }
    #endif

    /// The same id at each start, so that the others recognise this device.
    private static func storedPeer(_ name: String) -> MCPeerID {
        let key = "peer of \(name)"
        if let data = UserDefaults.standard.data(forKey: key),
            let peer = try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data)
        {
            return peer
        }
        let peer = MCPeerID(displayName: name)
        let data = try? NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
        UserDefaults.standard.set(data, forKey: key)
        return peer
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

    func send(_ text: String) {
        let message = ChatMessage(author: me.displayName, text: text)
        add(message)
        guard !session.connectedPeers.isEmpty else { return }
        do {
            try session.send(
                JSONEncoder().encode(message), toPeers: session.connectedPeers, with: .reliable)
        } catch {
            delegate?.chat(self, didFail: error.localizedDescription)
        }
    }

    private func add(_ message: ChatMessage) {
        messages.append(message)
        delegate?.chat(self, didAdd: message)
    }
}

extension ChatService: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        guard state != .connecting else { return }
        DispatchQueue.main.async { self.delegate?.chat(self, didChangeRoster: self.roster) }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        guard let message = try? JSONDecoder().decode(ChatMessage.self, from: data) else { return }
        DispatchQueue.main.async { self.add(message) }
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
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: Error?
    ) {}
}

extension ChatService: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        guard info?["v"] == "1" else { return }
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 20)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: Error) {
        delegate?.chat(self, didFail: error.localizedDescription)
    }
}

extension ChatService: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitationHandler(true, session)
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: Error
    ) {
        delegate?.chat(self, didFail: error.localizedDescription)
    }
}
