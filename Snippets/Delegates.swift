// A whole program with Apple's API; an article shows it.
// Run it on two machines on the same network, or twice on one with MULTIPEER_INTERFACES=lo in the environment.

// snippet.show
import MultipeerConnectivity

final class Chat: NSObject, MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    let browser: MCNearbyServiceBrowser

    init(name: String) {
        let me = MCPeerID(displayName: name)
        session = MCSession(peer: me)
        advertiser = MCNearbyServiceAdvertiser(peer: me, discoveryInfo: nil, serviceType: "chat")
        browser = MCNearbyServiceBrowser(peer: me, serviceType: "chat")
        super.init()
        session.delegate = self
        (advertiser.delegate, browser.delegate) = (self, self)
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer bob: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) {
        browser.invitePeer(bob, to: session, withContext: nil, timeout: 30)
    }  // both may invite each other at once: the result is one connection

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer bob: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        invitationHandler(true, session)  // or later, from any thread
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer bob: MCPeerID) {}
}

extension Chat: MCSessionDelegate {
    func session(_ session: MCSession, peer bob: MCPeerID, didChange state: MCSessionState) {
        guard state == .connected else { return }
        try? session.send(Data("hello".utf8), toPeers: [bob], with: .reliable)
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer bob: MCPeerID) {
        print(bob.displayName, String(decoding: data, as: UTF8.self))
    }
    // snippet.hide

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {}

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {}
    // snippet.show
    // and three more, for streams and files
}
// snippet.hide

let chat = Chat(name: ProcessInfo.processInfo.hostName)
dispatchMain()
