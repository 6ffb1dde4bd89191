import MultipeerConnectivity

/// The delegate of a second browser.
final class SecondBrowserDelegate: NSObject, MCNearbyServiceBrowserDelegate {
    private let application: Application

    init(_ application: Application) { self.application = application }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        application.note("the second browser has found \(peerID.displayName)")
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        application.note("the second browser has lost \(peerID.displayName)")
    }
}
