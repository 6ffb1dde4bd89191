// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// idiom: a browser view controller created in an ordinary class, which is its delegate

class Joiner: NSObject, MCBrowserViewControllerDelegate {
    let session = MCSession(peer: MCPeerID(displayName: "joiner"))
    private var controller: MCBrowserViewController?

    func join() {
        let controller = MCBrowserViewController(serviceType: "idiom-join", session: session)
        controller.delegate = self
        controller.minimumNumberOfPeers = kMCSessionMinimumNumberOfPeers
        controller.maximumNumberOfPeers = kMCSessionMaximumNumberOfPeers
        self.controller = controller
    }

    func browserViewControllerDidFinish(_ controller: MCBrowserViewController) { self.controller = nil }
    func browserViewControllerWasCancelled(_ controller: MCBrowserViewController) { self.controller = nil }
}

// idiom: a browser view controller as an implicitly unwrapped property

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
class GameService: NSObject {
    var peerID: MCPeerID!
    var session: MCSession!
    var browser: MCBrowserViewController!
    var advertiser: MCAdvertiserAssistant?

    func setUp(named name: String) {
        peerID = MCPeerID(displayName: name)
        session = MCSession(peer: peerID)
        browser = MCBrowserViewController(serviceType: "idiom-game", session: session)
        advertiser = MCAdvertiserAssistant(serviceType: "idiom-game", discoveryInfo: nil, session: session)
    }
}

// idiom: a lazily created browser view controller

final class LateScreen {
    let session = MCSession(peer: MCPeerID(displayName: "late"))
    lazy var controller: MCBrowserViewController = {
        let browser = MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: "idiom-late")
        return MCBrowserViewController(browser: browser, session: session)
    }()
}

// idiom: a subclass of the browser view controller, created in ordinary code

class PairPicker: MCBrowserViewController {
    var title = "Choose one"
    override var maximumNumberOfPeers: Int {
        get { 2 }
        set {}
    }
}

func pick(in session: MCSession) -> PairPicker {
    let browser = MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: "idiom-pick")
    return PairPicker(browser: browser, session: session)
}

// idiom: a browser view controller delegate that filters peers

final class VersionFilter: NSObject, MCBrowserViewControllerDelegate {
    private(set) var peers = 0

    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        peers = browserViewController.session.connectedPeers.count
    }
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        browserViewController.browser?.stopBrowsingForPeers()
    }
    func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool { info?["version"] == "2" }
}
