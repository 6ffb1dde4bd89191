import MultipeerConnectivity

// Protocols and types between an application and the framework.

// idiom: a protocol that the session conforms to without further code

protocol MessageSending: AnyObject {
    var connectedPeers: [MCPeerID] { get }
    var myPeerID: MCPeerID { get }
    func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws
    func disconnect()
}

extension MCSession: MessageSending {}

// idiom: protocols that browser and advertiser conform to without further code

protocol Browsing: AnyObject {
    var delegate: MCNearbyServiceBrowserDelegate? { get set }
    func startBrowsingForPeers()
    func stopBrowsingForPeers()
    func invitePeer(
        _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval)
}

protocol Advertising: AnyObject {
    var delegate: MCNearbyServiceAdvertiserDelegate? { get set }
    func startAdvertisingPeer()
    func stopAdvertisingPeer()
}

extension MCNearbyServiceBrowser: Browsing {}
extension MCNearbyServiceAdvertiser: Advertising {}

// idiom: a fake session for tests

final class FakeSender: MessageSending {
    var connectedPeers: [MCPeerID] = []
    let myPeerID = MCPeerID(displayName: "fake")
    private(set) var sent: [(Data, MCSessionSendDataMode)] = []
    var failure: MCError?

    func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
        if let failure { throw failure }
        sent.append((data, mode))
    }
    func disconnect() { connectedPeers = [] }
}

// idiom: a service that is generic over its transport

struct ScoreBoard<Sender: MessageSending> {
    let sender: Sender
    private(set) var scores: [String: Int] = [:]

    init(sender: Sender) { self.sender = sender }

    mutating func set(_ score: Int, of name: String) throws {
        scores[name] = score
        try sender.send(JSONEncoder().encode(scores), toPeers: sender.connectedPeers, with: .reliable)
    }
}

// idiom: the application's own peer type, which wraps the framework's

struct Player: Hashable, Identifiable {
    fileprivate let peer: MCPeerID
    var name: String { peer.displayName }
    var id: Int { peer.hash }
}

struct Players {
    private let session: MCSession
    init(_ session: MCSession) { self.session = session }

    var all: [Player] { session.connectedPeers.map(Player.init) }
    func send(_ data: Data, to player: Player) throws {
        try session.send(data, toPeers: [player.peer], with: .reliable)
    }
}

// idiom: a type alias for several delegate protocols

typealias NearbyDelegate = MCSessionDelegate & MCNearbyServiceAdvertiserDelegate
    & MCNearbyServiceBrowserDelegate

func connect(_ delegate: NearbyDelegate, _ session: MCSession, _ advertiser: MCNearbyServiceAdvertiser) {
    session.delegate = delegate
    advertiser.delegate = delegate
}

// idiom: functions with parameters of any and some delegate type

func isDelegate(_ candidate: some MCSessionDelegate, of session: MCSession) -> Bool {
    session.delegate === candidate
}

func replace(_ delegate: any MCSessionDelegate, of session: MCSession) -> (any MCSessionDelegate)? {
    defer { session.delegate = delegate }
    return session.delegate
}

// idiom: key paths of the framework's properties

func sorted(_ peers: [MCPeerID], by path: KeyPath<MCPeerID, String> = \.displayName) -> [MCPeerID] {
    peers.sorted { $0[keyPath: path] < $1[keyPath: path] }
}

func counts(_ sessions: [MCSession]) -> [Int] { sessions.map(\.connectedPeers.count) }

// idiom: a session's properties through dynamic member lookup

@dynamicMemberLookup
struct SessionProxy {
    fileprivate let session: MCSession

    subscript<Value>(dynamicMember path: KeyPath<MCSession, Value>) -> Value { session[keyPath: path] }
    var summary: String { "\(self.myPeerID.displayName): \(self.connectedPeers.count)" }
}

// idiom: a builder for sessions

struct SessionBuilder {
    private var peer = MCPeerID(displayName: "builder")
    private var encryption = MCEncryptionPreference.required

    func named(_ name: String) -> Self {
        var copy = self
        copy.peer = MCPeerID(displayName: name)
        return copy
    }
    func encryption(_ preference: MCEncryptionPreference) -> Self {
        var copy = self
        copy.encryption = preference
        return copy
    }
    func session() -> MCSession {
        MCSession(peer: peer, securityIdentity: nil, encryptionPreference: encryption)
    }
}

// idiom: initialisers and methods as function values

func functions(of session: MCSession) -> Int {
    let make: (String) -> MCPeerID = MCPeerID.init(displayName:)
    let send: (Data, [MCPeerID], MCSessionSendDataMode) throws -> Void = session.send(_:toPeers:with:)
    let stream = MCSession.startStream(withName:toPeer:)
    let peers = ["ann", "bob"].map(make)
    try? send(Data(), peers, .reliable)
    return (try? stream(session)("log", peers[0])) == nil ? 0 : 1
}

// idiom: a noncopyable owner of a session

struct SessionLease: ~Copyable {
    let session: MCSession
    init(_ session: MCSession) { self.session = session }
    consuming func end() { session.disconnect() }
}

func withLease(on peer: MCPeerID, _ body: (borrowing SessionLease) throws -> Void) rethrows {
    let lease = SessionLease(MCSession(peer: peer))
    try body(lease)
    lease.end()
}
