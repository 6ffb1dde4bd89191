import Foundation
@preconcurrency import MultipeerConnectivity

/// The framework's delegates, which it calls on queues of its own: each call becomes a value in one stream.
///
/// It makes no decisions and has no state, so it needs no isolation. One stream for all three delegates keeps the order.
final class Bridge: NSObject {
    /// A delegate call. Peers are not `Sendable`; `@preconcurrency import` lets them pass. That is safe because only one
    /// consumer, the station, uses them afterwards.
    enum Report: Sendable {
        case found(MCPeerID)
        case lost(MCPeerID)
        case invited(MCPeerID, Answer)
        case changed(MCPeerID, MCSessionState)
        case received(Data, MCPeerID)
        case failed(String)
        case closed
    }

    /// The handler that takes the answer to an invitation, on any thread.
    typealias Answer = @Sendable (Bool, MCSession?) -> Void

    let reports: AsyncStream<Report>
    private let reporting: AsyncStream<Report>.Continuation

    override init() {
        (reports, reporting) = AsyncStream.makeStream()
        super.init()
    }

    /// Wakes the consumer one last time, even if there is nothing to report.
    func close() { reporting.yield(.closed) }
}

extension Bridge: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        reporting.yield(.invited(peerID, invitationHandler))
    }

    func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
        reporting.yield(.failed("cannot advertise: \(error.localizedDescription)"))
    }
}

extension Bridge: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        reporting.yield(.found(peerID))
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        reporting.yield(.lost(peerID))
    }

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        reporting.yield(.failed("cannot browse: \(error.localizedDescription)"))
    }
}

extension Bridge: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        reporting.yield(.changed(peerID, state))
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        reporting.yield(.received(data, peerID))
    }

    // This program sends neither streams nor files. A stream that is released is declined; a file is cancelled.

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        progress.cancel()
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {}
}
