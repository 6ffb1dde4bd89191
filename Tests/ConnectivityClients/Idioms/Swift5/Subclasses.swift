import MultipeerConnectivity

// Subclasses of the framework's classes, for convenience and for tests.

// idiom: a session with an initialiser of its own

final class RoomSession: MCSession {
    let room: String

    init(room: String, peer: MCPeerID) {
        self.room = room
        super.init(peer: peer, securityIdentity: nil, encryptionPreference: .required)
    }
}

// idiom: a session for tests that records what is sent

class RecordingSession: MCSession {
    var pretendedPeers: [MCPeerID] = []
    private(set) var sent: [(data: Data, peers: [MCPeerID])] = []

    override var connectedPeers: [MCPeerID] { pretendedPeers }
    override func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
        sent.append((data, peerIDs))
    }
    override func disconnect() { pretendedPeers = [] }
}

// idiom: a session with a property observer on its delegate

final class NoticingSession: MCSession {
    private(set) var delegateChanges = 0

    override var delegate: MCSessionDelegate? {
        didSet { delegateChanges += 1 }
    }
}

// idiom: a browser for tests that reports peers on demand

final class FakeBrowser: MCNearbyServiceBrowser {
    private(set) var isBrowsing = false
    private(set) var invited: [MCPeerID] = []

    override func startBrowsingForPeers() { isBrowsing = true }
    override func stopBrowsingForPeers() { isBrowsing = false }
    override func invitePeer(
        _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
    ) { invited.append(peerID) }

    func find(_ peer: MCPeerID) { delegate?.browser(self, foundPeer: peer, withDiscoveryInfo: nil) }
    func lose(_ peer: MCPeerID) { delegate?.browser(self, lostPeer: peer) }
}

// idiom: an advertiser for tests that reports invitations on demand

final class FakeAdvertiser: MCNearbyServiceAdvertiser {
    private(set) var answers: [Bool] = []
    override func startAdvertisingPeer() {}
    override func stopAdvertisingPeer() {}

    func invite(from peer: MCPeerID, context: Data? = nil) {
        delegate?.advertiser(self, didReceiveInvitationFromPeer: peer, withContext: context) { accepted, _ in
            self.answers.append(accepted)
        }
    }
}

// idiom: a peer with a property of its own, which is also archived

final class ColoredPeer: MCPeerID {
    let color: String

    init(displayName: String, color: String) {
        self.color = color
        super.init(displayName: displayName)
    }

    required init?(coder: NSCoder) {
        color = coder.decodeObject(of: NSString.self, forKey: "color").map { "\($0)" } ?? "gray"
        super.init(coder: coder)
    }

    override class var supportsSecureCoding: Bool { true }
    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(NSString(string: color), forKey: "color")
    }
}

// idiom: a peer with its own description

class DescribedPeer: MCPeerID {
    override var description: String { "peer \(displayName)" }
    override var displayName: String { super.displayName.capitalized }
}

// idiom: an assistant that counts its starts

final class CountedAssistant: MCAdvertiserAssistant {
    private(set) var starts = 0
    override func start() {
        starts += 1
        super.start()
    }
}
