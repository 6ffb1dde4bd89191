import Foundation
@preconcurrency import MultipeerConnectivity

extension TestApplication: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connecting: reached(.connecting)
        case .connected: reached(.connected)
        case .notConnected: reached(.notConnected)
        @unknown default: break
        }
        note(peerID, state)
        if state == .connected, isChatty { greet(peerID, in: session) }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        reached(.message)
        note(data)
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        reached(.stream)
        read(stream)
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        change { $0.transfers.append(progress) }
        reached(.resourceStarted)
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        reached(.resourceFinished)
    }

    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void
    ) {
        reached(.certificate)
        noteShown(certificate.map { $0.compactMap { $0 as? MCCertificate } })
        verdict(certificateHandler)
    }
}

extension TestApplication: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        noteFound(peerID)
        reached(.invitation)
        if admits(invitationHandler) { invitationHandler(true, session) }
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
    ) {
        reached(.notAdvertising)
    }
}

extension TestApplication: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        noteFound(peerID)
        reached(.found)
        if isChatty { perform(.invite) }
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) { reached(.lost) }

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        reached(.notBrowsing)
    }
}

/// The delegate of one stream of a device.
///
/// Unchecked: both fields are set once.
final class StreamEventDelegate: NSObject, StreamDelegate, @unchecked Sendable {
    private weak var handset: TestApplication?
    private let isWriter: Bool

    init(_ handset: TestApplication, isWriter: Bool) {
        self.handset = handset
        self.isWriter = isWriter
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        guard let handset else { return }
        switch event {
        case .openCompleted: handset.reached(isWriter ? .writerOpened : .readerOpened)
        case .hasSpaceAvailable:
            handset.reached(.writerHasSpace)
            guard let writer = stream as? OutputStream else { return }
            let bytes = [UInt8](repeating: 7, count: 1_000)
            _ = unsafe writer.write(bytes, maxLength: bytes.count)
            if !handset.keepsWriters { writer.close() }
        case .hasBytesAvailable:
            handset.reached(.readerHasBytes)
            guard let reader = stream as? InputStream else { return }
            var bytes = [UInt8](repeating: 0, count: 4_096)
            _ = unsafe reader.read(&bytes, maxLength: bytes.count)
        case .endEncountered:
            handset.reached(.readerEnded)
            stream.close()
        case .errorOccurred:
            handset.reached(isWriter ? .writerFailed : .readerFailed)
            stream.close()
        default: break
        }
    }
}
