import MultipeerConnectivity

/// A program whose main thread is blocked, so that its main queue does not run: it learns why its delegates are not called.
struct BlockedMain {
    private final class Delegate: NSObject, MCNearbyServiceBrowserDelegate {
        func browser(
            _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
            withDiscoveryInfo info: [String: String]?
        ) {
            print("found")
        }

        func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
    }

    /// Returns at the end of standard input.
    func run() {
        let type = "b-" + String((0..<10).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "x" })
        let delegate = Delegate()
        let advertiser = MCNearbyServiceAdvertiser(
            peer: MCPeerID(displayName: "one"), discoveryInfo: nil, serviceType: type)
        let browser = MCNearbyServiceBrowser(peer: MCPeerID(displayName: "other"), serviceType: type)
        browser.delegate = delegate
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
        _ = FileHandle.standardInput.readDataToEndOfFile()
        withExtendedLifetime((advertiser, browser, delegate)) {}
    }
}
