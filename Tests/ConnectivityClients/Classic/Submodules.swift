import MultipeerConnectivity.MCAdvertiserAssistant
import MultipeerConnectivity.MCBrowserViewController
import MultipeerConnectivity.MCError
import MultipeerConnectivity.MCNearbyServiceAdvertiser
import MultipeerConnectivity.MCNearbyServiceBrowser
import MultipeerConnectivity.MCSession

/// The headers of Apple's framework are submodules; a file that imports only those has all of it.
package func throughSubmodules(_ name: String) -> (MCPeerID, URL?) {
    (MCPeerID(displayName: name), URL(string: "multipeer:"))
}
