// mode: Swift 4.2
// flags: -swift-version 4.2

import MultipeerConnectivity

// Applications in the language mode of Swift 4.

// idiom: a service as it was written in 2018

class ColorService: NSObject {
    fileprivate let myPeerId = MCPeerID(displayName: "color")
    fileprivate let serviceBrowser: MCNearbyServiceBrowser
    var colors = [MCPeerID: String]()

    lazy var session: MCSession = {
        let session = MCSession(peer: self.myPeerId, securityIdentity: nil, encryptionPreference: .required)
        session.delegate = nil
        return session
    }()

    override init() {
        self.serviceBrowser = MCNearbyServiceBrowser(peer: myPeerId, serviceType: "idiom-color")
        super.init()
    }

    func send(colorName: String) {
        guard session.connectedPeers.count > 0 else { return }
        try? session.send(
            colorName.data(using: .utf8) ?? Data(), toPeers: session.connectedPeers, with: .reliable)
    }
}

// idiom: a switch over the states without unknown default

extension MCSessionState {
    func stringValue() -> String {
        switch self {
        case .notConnected: return "NotConnected"
        case .connecting: return "Connecting"
        case .connected: return "Connected"
        }
    }
}
