import MultipeerConnectivity

/// A controller of peers in code of no isolation, as Swift 5 code has it around a view controller of UIKit.
package final class Choosing: NSObject, MCBrowserViewControllerDelegate {
    private let controller: MCBrowserViewController
    package private(set) var hasFinished = false

    package init(session: MCSession) {
        controller = MCBrowserViewController(serviceType: "choosing", session: session)
        super.init()
        controller.delegate = self
        controller.maximumNumberOfPeers = 4
        controller.onChange = { [weak self] in self?.finishWhenPossible() }
    }

    package convenience init(browser: MCNearbyServiceBrowser, session: MCSession) {
        self.init(session: session)
        _ = MCBrowserViewController(browser: browser, session: session)
    }

    package func start() { controller.start() }

    private func finishWhenPossible() {
        for peer in controller.nearbyPeers { controller.invite(peer.peerID) }
        if controller.canFinish { controller.done() }
    }

    package func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        hasFinished =
            browserViewController.session.connectedPeers.count < browserViewController.maximumNumberOfPeers
    }

    package func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        browserViewController.stop()
    }
}

/// A controller of the program's own.
package final class OwnController: MCBrowserViewController {
    package override var minimumNumberOfPeers: Int {
        get { super.minimumNumberOfPeers }
        set { super.minimumNumberOfPeers = newValue + 1 }
    }
}

package func ownController(_ session: MCSession) -> OwnController {
    let controller = OwnController(serviceType: "choosing", session: session)
    controller.minimumNumberOfPeers = 3
    return controller
}
