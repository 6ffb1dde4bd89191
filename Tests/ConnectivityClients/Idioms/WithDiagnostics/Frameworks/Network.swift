// mode: Swift 5
// flags: -swift-version 5

// idiom: a path monitor of the Network framework
// why: There is no Network framework on Linux.
// instead: Start browsing, and read the reason in `didNotStartBrowsingForPeers`.

#if !INSTEAD
    // error: no such module 'Network'
    import Network
#endif
import MultipeerConnectivity

#if INSTEAD
    final class Reachability: NSObject, MCNearbyServiceBrowserDelegate {
        private(set) var isReachable = true

        func browser(
            _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
            withDiscoveryInfo info: [String: String]?
        ) {}
        func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
        func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: Error) {
            isReachable = false
        }
    }
#else
    final class Reachability {
        private let monitor = NWPathMonitor()
        var isReachable: Bool { monitor.currentPath.status == .satisfied }
    }
#endif
