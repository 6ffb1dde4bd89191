import MultipeerConnectivity

/// A further peer in the process of one of the two applications, which accepts every invitation, and notes into the
/// record of that application, with its name.
final class FurtherPeer: SilentSessionDelegate, MCNearbyServiceAdvertiserDelegate, @unchecked Sendable {
    // Unchecked: nothing of it changes.
    let peer: MCPeerID
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    private let application: Application

    init(_ name: String, in application: Application) {
        peer = MCPeerID(displayName: name)
        session = MCSession(peer: peer)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: nil, serviceType: application.serviceType)
        self.application = application
        super.init()
        application.keep(self)
        session.delegate = self
        advertiser.delegate = self
    }

    private func note(_ text: String) { application.note("\(peer.displayName): \(text)") }

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connected: note("\(peerID.displayName) connected")
        case .notConnected: note("\(peerID.displayName) notConnected")
        default: break
        }
    }

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        note("\(peerID.displayName) says \(String(decoding: data, as: UTF8.self))")
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitationHandler(true, session)
    }
}
