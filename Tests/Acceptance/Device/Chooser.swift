import MultipeerConnectivity

/// Does what a window for choosing peers would do, on the main thread, by commands.
@MainActor
final class Chooser: NSObject {
    static let only = Chooser()

    private var controller: MCBrowserViewController?
    /// The names of peers that it does not show.
    private var hidden: Set<String> = []

    func begin(_ type: String, _ session: Handed<MCSession>, hiding hidden: Set<String>) -> Fields {
        self.hidden = hidden
        let controller = MCBrowserViewController(serviceType: type, session: session.value)
        self.controller = controller
        controller.delegate = self
        controller.maximumNumberOfPeers = 100
        controller.minimumNumberOfPeers = 0
        controller.start()
        return ["least": controller.minimumNumberOfPeers, "most": controller.maximumNumberOfPeers]
    }

    func invite(_ name: String) -> Fields {
        let peer = controller?.nearbyPeers.first { $0.peerID.displayName == name }?.peerID
        return ["invited": peer.map { controller?.invite($0) ?? false } ?? false]
    }

    var peers: Fields {
        let peers = controller?.nearbyPeers ?? []
        return [
            "peers": peers.map(\.peerID.displayName), "states": peers.map { "\($0.state)" },
            "finishes": controller?.canFinish ?? false,
        ]
    }

    func finish() -> Fields { ["finished": controller?.done() ?? false] }

    func abandon() { controller?.cancel() }
}

extension Chooser: @MainActor MCBrowserViewControllerDelegate {
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        tell("finished")
    }

    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        tell("abandoned")
    }

    func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool {
        let isShown = !hidden.contains(peerID.displayName)
        tell("present", ["peer": peerID.displayName, "info": info ?? [:], "shown": isShown])
        return isShown
    }
}
