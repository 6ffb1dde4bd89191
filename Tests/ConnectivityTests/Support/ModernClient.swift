@preconcurrency import MultipeerConnectivity

// Compiled, not run: how a program in Swift 6 mode answers later, from the main actor, with nothing unchecked.

/// Holds state that only the main actor may use.
@MainActor
final class ModernDoorkeeper {
    private var waiting: [(Bool, MCSession?) -> Void] = []
    private let session: MCSession
    private(set) var progress: Progress?
    private(set) var failures: [any Error] = []

    init(session: MCSession) { self.session = session }

    func ask(_ answer: @escaping @Sendable (Bool, MCSession?) -> Void) { waiting.append(answer) }

    func acceptAll() {
        for answer in waiting { answer(true, session) }
        waiting = []
    }

    /// A handler that is formed on the main actor: as it is `@Sendable`, it is not isolated there, and does not trap elsewhere.
    func send(_ file: URL, to peer: MCPeerID) {
        progress = session.sendResource(at: file, withName: file.lastPathComponent, toPeer: peer) {
            @Sendable error in
            guard let error else { return }
            Task { @MainActor in self.failures.append(error) }
        }
    }

    func connect(to peer: MCPeerID, exchange: @Sendable (Data) async -> Data) async throws {
        let theirs = await exchange(try await session.nearbyConnectionData(forPeer: peer))
        session.connectPeer(peer, withNearbyConnectionData: theirs)
    }
}

/// A delegate that passes every question to the main actor.
final class ModernDelegate: NSObject, MCNearbyServiceAdvertiserDelegate, Sendable {
    let doorkeeper: ModernDoorkeeper

    init(doorkeeper: ModernDoorkeeper) { self.doorkeeper = doorkeeper }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        Task { @MainActor in doorkeeper.ask(invitationHandler) }
    }
}

/// An actor that owns its session and sees the certificates.
actor ModernRoom {
    private let session: MCSession

    init(name: String) { session = MCSession(peer: MCPeerID(displayName: name)) }

    func say(_ text: String) throws {
        try session.send(Data(text.utf8), toPeers: session.connectedPeers, with: .reliable)
    }

    func connectionData(for peer: MCPeerID) async throws -> Data {
        try await session.nearbyConnectionData(forPeer: peer)
    }
}
