// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// idiom: a delegate that forwards invitations to another delegate

final class AdvertiserProxy: NSObject, MCNearbyServiceAdvertiserDelegate {
    weak var target: MCNearbyServiceAdvertiserDelegate?
    private(set) var invitations = 0

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitations += 1
        target?.advertiser(
            advertiser, didReceiveInvitationFromPeer: peerID, withContext: context,
            invitationHandler: invitationHandler)
    }
}

// idiom: a delegate that forwards certificates to another delegate

func forward(
    _ certificate: [Any]?, of peer: MCPeerID, in session: MCSession, to target: MCSessionDelegate,
    handler: @escaping (Bool) -> Void
) {
    target.session(
        session, didReceiveCertificate: certificate, fromPeer: peer, certificateHandler: handler)
}
