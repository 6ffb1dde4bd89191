// mode: Swift 5, targeted checking
// flags: -swift-version 5 -strict-concurrency=targeted

import MultipeerConnectivity

// Swift 5 with targeted checking, and a plain import.

// idiom: a delegate method that dispatches self and a peer to the main queue

final class TargetedTable: NSObject, MCNearbyServiceBrowserDelegate {
    private(set) var peers: [MCPeerID] = []

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        DispatchQueue.main.async { self.peers.append(peerID) }
    }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        DispatchQueue.main.async { [weak self] in self?.peers.removeAll { $0 == peerID } }
    }
}

// idiom: shared instances and variables

final class TargetedService {
    static let shared = TargetedService()
    static var serviceType = "idiom-targeted"
    let session = MCSession(peer: MCPeerID(displayName: "targeted"))
}

// idiom: an actor with a session

actor TargetedRoom {
    private let session = MCSession(peer: MCPeerID(displayName: "room"))
    func send(_ data: Data) throws {
        try session.send(data, toPeers: session.connectedPeers, with: .reliable)
    }
}
