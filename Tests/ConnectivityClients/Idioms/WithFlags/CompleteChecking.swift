// mode: Swift 5, complete checking
// flags: -swift-version 5 -strict-concurrency=complete

@preconcurrency import MultipeerConnectivity

// Swift 5 with complete checking, as during a migration to Swift 6.

// idiom: a nonisolated method that hops in a task with its arguments

@MainActor
final class CompleteModel {
    private(set) var peers: [MCPeerID: MCSessionState] = [:]

    nonisolated func changed(_ peer: MCPeerID, _ state: MCSessionState) {
        Task { @MainActor [weak self] in self?.peers[peer] = state }
    }
}

// idiom: a singleton marked nonisolated(unsafe)

final class CompleteService: NSObject {
    nonisolated(unsafe) static let shared = CompleteService()
    let session = MCSession(peer: MCPeerID(displayName: "complete"))
}

// idiom: a @preconcurrency conformance of a main-actor class

@MainActor
final class CompleteHost: NSObject, @preconcurrency MCNearbyServiceAdvertiserDelegate {
    private(set) var count = 0

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        count += 1
        invitationHandler(count < kMCSessionMaximumNumberOfPeers, nil)
    }
}

// idiom: an @unchecked Sendable class that dispatches peers to the main queue

final class CompleteQueue: @unchecked Sendable {
    private var found: [MCPeerID] = []
    func add(_ peer: MCPeerID) { DispatchQueue.main.async { self.found.append(peer) } }
}
