public import Foundation

/// The delegate of a session.
///
/// All calls of one session are made one after the other on a private queue, never on the main one, unless the session's
/// `delegateCallQueue` is set. During each of them, and from any thread, every method of the session may be called.
public protocol MCSessionDelegate: NSObjectProtocol {
    /// A peer's state changed.
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState)

    /// A whole message arrived.
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID)

    /// A peer opened a stream: set its delegate, schedule it, open it.
    ///
    /// While it is open and scheduled on a run loop it is kept alive, until `close`, the last `remove` or its last event.
    /// Otherwise no other object keeps it alive: releasing it unopened declines it, and later gives it up. The name was chosen by
    /// the other side. Unread data holds back only the writer of this stream.
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID)

    /// A peer sends a resource, which begins when this returns. Cancelling its progress cancels the transfer, here and at the
    /// other side. Without a delegate it is declined.
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress)

    /// A resource has arrived, at `localURL`, and has to be moved before this returns; or it has not, and `error` has the reason.
    /// Called once for each announced resource, as long as there is a delegate.
    ///
    /// The file has the last component of the name, sanitised, and is readable by its owner only. The name itself was chosen by
    /// the other side, and may be a path that leads out of any directory: never append it to one.
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?)

    /// A peer presents its certificates, `MCCertificate`s with the leaf first; nil when it has no identity.
    ///
    /// The handler decides whether the peer may connect. Call it once from any thread; later calls do nothing, and without a call
    /// within 30 seconds the peer is refused. If this is not implemented, or without a delegate, the peer is accepted.
    @preconcurrency
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void)
}

extension MCSessionDelegate {
    /// Accepts every peer, like Apple's framework when a delegate does not implement this.
    public func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void
    ) {
        certificateHandler(true)
    }
}
