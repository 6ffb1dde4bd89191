import MultipeerConnectivity

extension Application: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        if state == .connected { lastConnected = peerID }
        onState?(peerID, state)
        let word =
            switch state {
            case .notConnected: "notConnected"
            case .connecting: "connecting"
            case .connected: "connected"
            @unknown default: "\(state.rawValue)"
            }
        record.note(.session, "\(peerID.displayName) \(word)")
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        onData?(data, peerID)
        $messages.change { $0.append(data) }
        let text = data.count > 40 ? nil : String(data: data, encoding: .utf8)
        record.note(.session, "\(peerID.displayName): \(text ?? "\(data.count) bytes")")
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        onStream?(stream, streamName, peerID)
        record.note(.session, "stream \(streamName) of \(peerID.displayName)")
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {
        onResourceStart?(resourceName, peerID, progress)
        record.note(.session, "receiving \(resourceName)")
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        if let localURL {
            let data = try? Data(contentsOf: localURL)
            $resources.change { $0[resourceName] = data }
        }
        onResourceEnd?(resourceName, localURL, error)
        record.note(.session, "received \(resourceName)" + (error.map { ": " + codeName(of: $0) } ?? ""))
    }

    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        if let onCertificate {
            onCertificate(certificate, peerID, certificateHandler)
        } else {
            certificateHandler(true)
        }
        record.note(.session, "certificate of \(peerID.displayName)")
    }
}

extension Application: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        let invitation = Invitation(peer: peerID, context: context, answer: invitationHandler)
        $invitations.change { $0.append(invitation) }
        onInvitation?(peerID, context, invitationHandler)
        record.note(.advertiser, "invited by \(peerID.displayName)")
    }

    func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
        record.note(.advertiser, "did not advertise: \(codeName(of: error))")
    }
}

extension Application: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        onFound?(peerID, info)
        record.note(.browser, "found \(peerID.displayName)")
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        record.note(.browser, "lost \(peerID.displayName)")
    }

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        record.note(.browser, "did not browse: \(codeName(of: error))")
    }
}
