// mode: Swift 5, main actor by default
// flags: -swift-version 5 -default-isolation MainActor -enable-upcoming-feature NonisolatedNonsendingByDefault

import MultipeerConnectivity

// The main actor by default in Swift 5 mode, with a plain import.

// idiom: a nonisolated delegate method that hops in a task

final class MainList5: NSObject, MCNearbyServiceBrowserDelegate {
    private(set) var peers: [MCPeerID] = []

    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        Task { @MainActor in self.peers.append(peerID) }
    }
    nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: delegate methods on the main actor

final class MainHost5: NSObject, MCNearbyServiceAdvertiserDelegate {
    private(set) var names: [String] = []

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        names.append(peerID.displayName)
        invitationHandler(true, nil)
    }
}
