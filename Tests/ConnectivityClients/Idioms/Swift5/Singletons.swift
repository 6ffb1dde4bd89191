import MultipeerConnectivity

// Global objects, and properties that are set later.

// idiom: a shared instance

final class PeerService: QuietSessionDelegate {
    static let shared = PeerService()
    let session: MCSession

    private override init() {
        session = MCSession(peer: MCPeerID(displayName: "shared"))
        super.init()
        session.delegate = self
    }

    static func broadcast(_ text: String) throws {
        try shared.session.send(Data(text.utf8), toPeers: shared.session.connectedPeers, with: .reliable)
    }
}

// idiom: static variables

enum Configuration {
    static var serviceType = "idiom-5"
    static var encryption = MCEncryptionPreference.required
    static var peer = MCPeerID(displayName: "static")
}

// idiom: a global session

let globalSession = MCSession(
    peer: Configuration.peer, securityIdentity: nil, encryptionPreference: .optional)
var globalDelegate: MCSessionDelegate?

// idiom: implicitly unwrapped properties that a method sets

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
final class ViewModel: QuietSessionDelegate {
    var peerID: MCPeerID!
    var session: MCSession!
    var browser: MCNearbyServiceBrowser!
    var advertiser: MCAdvertiserAssistant!

    func setUp(named name: String) {
        peerID = MCPeerID(displayName: name)
        session = MCSession(peer: peerID)
        session.delegate = self
        browser = MCNearbyServiceBrowser(peer: peerID, serviceType: Configuration.serviceType)
        advertiser = MCAdvertiserAssistant(serviceType: "idiom-5", discoveryInfo: nil, session: session)
    }

    var count: Int { session.connectedPeers.count }
}

// idiom: force unwraps and try!

// swift-format-ignore: NeverForceUnwrap, NeverUseForceTry
func forced(_ session: MCSession?, _ text: String) {
    let first = session!.connectedPeers.first!
    try! session!.send(text.data(using: .utf8)!, toPeers: [first], with: .reliable)
}

// idiom: a lazily created session, which is replaced after disconnecting

final class Rejoining: QuietSessionDelegate {
    private let peer = MCPeerID(displayName: "again")
    lazy var session: MCSession = self.makeSession()

    private func makeSession() -> MCSession {
        let session = MCSession(peer: self.peer, securityIdentity: nil, encryptionPreference: .none)
        session.delegate = self
        return session
    }

    func rejoin() {
        session.disconnect()
        session = makeSession()
    }
}

// idiom: disconnecting in deinit

final class Guest {
    private let session: MCSession
    private let browser: MCNearbyServiceBrowser

    init(_ peer: MCPeerID) {
        session = MCSession(peer: peer)
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: Configuration.serviceType)
        browser.startBrowsingForPeers()
    }

    deinit {
        browser.stopBrowsingForPeers()
        session.disconnect()
    }
}

// idiom: a coordinator with an unowned reference

final class Coordinator: QuietSessionDelegate {
    unowned let owner: Rejoining
    init(owner: Rejoining) { self.owner = owner }

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        if state == .notConnected, session.connectedPeers.isEmpty { owner.rejoin() }
    }
}
