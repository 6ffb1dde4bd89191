import MultipeerConnectivity.MCNearbyServiceBrowser
import MultipeerConnectivity.MCPeerID

// idiom: imports of the framework's headers as submodules

func browse(as name: String) -> MCNearbyServiceBrowser {
    let browser = MCNearbyServiceBrowser(peer: MCPeerID(displayName: name), serviceType: "idiom-one")
    browser.startBrowsingForPeers()
    return browser
}
