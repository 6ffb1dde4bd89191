import MultipeerConnectivity

/// Every method of every delegate, written as it is on Apple's platforms: no `any`, no `@Sendable`.
package final class WholeDelegate: NSObject, MCSessionDelegate, MCNearbyServiceAdvertiserDelegate,
    MCNearbyServiceBrowserDelegate, MCAdvertiserAssistantDelegate, MCBrowserViewControllerDelegate
{
    var session: MCSession?
    var handlers: [(Bool, MCSession?) -> Void] = []

    package func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        if state == .connected { try? session.send(Data(), toPeers: [peerID], with: .reliable) }
    }

    package func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}

    package func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        stream.schedule(in: .current, forMode: .default)
        stream.open()
    }

    package func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {
        progress.cancel()
    }

    package func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: Error?
    ) {}

    package func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        certificateHandler(certificate?.isEmpty == false)
    }

    package func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        handlers.append(invitationHandler)
        invitationHandler(true, session)
    }

    package func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: Error)
    {}

    package func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        if let session { browser.invitePeer(peerID, to: session, withContext: nil, timeout: 10) }
    }

    package func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
    package func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: Error) {}

    package func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
    package func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}

    package func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {}
    package func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {}
    package func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool {
        true
    }
}

/// What a delegate must have, and nothing that it may leave out.
package final class LeastDelegate: NSObject {
    package var states: [MCSessionState] = []
}

extension LeastDelegate: MCSessionDelegate {
    package func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        states.append(state)
    }
    package func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}
    package func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}
    package func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {}
    package func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: Error?
    ) {}
}

extension LeastDelegate: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
    package func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitationHandler(false, nil)
    }
    package func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {}
    package func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

extension LeastDelegate: MCAdvertiserAssistantDelegate, MCBrowserViewControllerDelegate {
    package func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {}
    package func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {}
}
