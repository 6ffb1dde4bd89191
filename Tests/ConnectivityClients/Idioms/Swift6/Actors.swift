@preconcurrency import MultipeerConnectivity

// Actors that own the framework's objects.

// idiom: an actor owns the session

actor Room {
    private let session: MCSession
    private var names: [MCPeerID: String] = [:]

    init(named name: String) {
        session = MCSession(
            peer: MCPeerID(displayName: name), securityIdentity: nil, encryptionPreference: .required)
    }

    func say(_ text: String) throws {
        guard !session.connectedPeers.isEmpty else { throw MCError(.notConnected) }
        try session.send(Data(text.utf8), toPeers: session.connectedPeers, with: .reliable)
    }

    func note(_ peer: MCPeerID, _ name: String) { names[peer] = name }
    func name(of peer: MCPeerID) -> String { names[peer] ?? peer.displayName }
    func listen(through bridge: RoomBridge) { session.delegate = bridge }
}

// idiom: a delegate that forwards to an actor

final class RoomBridge: QuietSessionDelegate, @unchecked Sendable {
    private let room: Room
    init(room: Room) { self.room = room }

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        let name = String(decoding: data, as: UTF8.self)
        Task { await room.note(peerID, name) }
    }
}

// idiom: a global actor for the framework's objects

@globalActor
actor ConnectivityActor {
    static let shared = ConnectivityActor()
}

@ConnectivityActor
final class Directory {
    private var names: [MCPeerID: String] = [:]
    func set(_ name: String, of peer: MCPeerID) { names[peer] = name }
    nonisolated func later(_ name: String, of peer: MCPeerID) {
        Task { @ConnectivityActor in set(name, of: peer) }
    }
}

// idiom: a browser delegate isolated to a global actor

@ConnectivityActor
final class Scanner: NSObject, MCNearbyServiceBrowserDelegate {
    private(set) var found: Set<MCPeerID> = []

    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        Task { @ConnectivityActor [weak self] in self?.found.insert(peerID) }
    }
    nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        Task { @ConnectivityActor [weak self] in self?.found.remove(peerID) }
    }
}

// idiom: an actor that returns snapshots of peers

struct PeerSnapshot: Sendable, Hashable, Identifiable {
    let id: UUID
    let name: String
}

actor PeerRegistry {
    private var ids: [MCPeerID: UUID] = [:]

    func snapshot(of peer: MCPeerID) -> PeerSnapshot {
        let id = ids[peer] ?? UUID()
        ids[peer] = id
        return PeerSnapshot(id: id, name: peer.displayName)
    }

    func peer(_ snapshot: PeerSnapshot) -> MCPeerID? { ids.first { $0.value == snapshot.id }?.key }
}

// idiom: a function that inherits the isolation of its caller

func broadcast(_ data: Data, in session: MCSession, isolation: isolated (any Actor)? = #isolation)
    async throws
{
    await Task.yield()
    try session.send(data, toPeers: session.connectedPeers, with: .reliable)
}

actor Broadcaster {
    let session = MCSession(peer: MCPeerID(displayName: "broadcaster"))
    func send(_ data: Data) async throws { try await broadcast(data, in: session) }
}

// idiom: a nonisolated(nonsending) function

nonisolated(nonsending) func sendSlowly(_ messages: [String], in session: MCSession) async throws {
    for message in messages {
        try await Task.sleep(for: .milliseconds(100))
        try session.send(Data(message.utf8), toPeers: session.connectedPeers, with: .reliable)
    }
}

// idiom: decoding in a @concurrent function

struct Move: Codable, Sendable { var row = 0, column = 0 }

@concurrent func decodeMoves(_ data: Data) async throws -> [Move] {
    try JSONDecoder().decode([Move].self, from: data)
}

// idiom: a session sent into an actor

actor Owner {
    private var session: MCSession?
    func adopt(_ session: sending MCSession) { self.session = session }
}

func makeAndAdopt(_ owner: Owner) async {
    let session = MCSession(peer: MCPeerID(displayName: "sent"))
    await owner.adopt(session)
}

// idiom: an actor that is called from a queue

actor QueueActor {
    private let queue = DispatchQueue(label: "idiom.actor")
    private var count = 0
    func bump() -> Int {
        count += 1
        return count
    }
    nonisolated func later(_ body: @escaping @Sendable (Int) -> Void) {
        queue.async { Task { body(await self.bump()) } }
    }
}
