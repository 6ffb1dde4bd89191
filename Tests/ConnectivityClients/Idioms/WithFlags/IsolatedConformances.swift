// mode: Swift 6, inferred isolated conformances
// flags: -swift-version 6 -enable-upcoming-feature InferIsolatedConformances

import MultipeerConnectivity

// Conformances of a main-actor class, whose isolation is inferred.

// idiom: a main-actor class that conforms without an attribute

@MainActor
final class InferredList: NSObject, MCNearbyServiceBrowserDelegate {
    private(set) var peers: [MCPeerID] = []

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) { peers.append(peerID) }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        peers.removeAll { $0 == peerID }
    }
}

// idiom: a main-actor class that is the delegate of its advertiser

@MainActor
final class InferredHost: NSObject, MCNearbyServiceAdvertiserDelegate {
    private let advertiser = MCNearbyServiceAdvertiser(
        peer: MCPeerID(displayName: "host"), discoveryInfo: nil, serviceType: "idiom-host")
    private(set) var questions: [String] = []

    func open() {
        advertiser.delegate = self
        advertiser.startAdvertisingPeer()
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) { questions.append(peerID.displayName) }
}
