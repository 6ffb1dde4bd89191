// mode: Swift 6, retroactively Sendable
// flags: -swift-version 6

import MultipeerConnectivity

// Retroactive conformances to Sendable, and a plain import.

// idiom: retroactive, unchecked conformances to Sendable

extension MCPeerID: @retroactive @unchecked Sendable {}
extension MCSession: @retroactive @unchecked Sendable {}
extension MCNearbyServiceBrowser: @unchecked @retroactive Sendable {}
extension MCNearbyServiceAdvertiser: @unchecked @retroactive Sendable {}

// idiom: a task that captures retroactively Sendable peers and sessions

@MainActor
final class RetroactiveModel {
    private(set) var peers: [MCPeerID] = []

    nonisolated func changed(_ peer: MCPeerID, in session: MCSession) {
        Task { @MainActor in peers = session.connectedPeers.filter { $0 != peer } }
    }
}

// idiom: a Sendable value that contains a peer

struct Friend: Sendable, Identifiable, Equatable {
    let peer: MCPeerID
    var id: String { peer.displayName }
}

// idiom: the state of a session as a Sendable value

struct SessionStatus: Sendable, Equatable {
    var peers: [MCPeerID: MCSessionState] = [:]
    var encryption = MCEncryptionPreference.required
    var mode = MCSessionSendDataMode.reliable
    var lastError: MCError?
}
