public import Foundation

/// What a session tells.
///
/// All calls of one session come one after the other on a private queue, never on the main one. In each of them, and from
/// any thread, everything of the session may be called.
public protocol MCSessionDelegate: NSObjectProtocol {
    /// A peer's state changed.
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState)

    /// A whole message arrived.
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID)

    /// A peer opened a stream: keep it, set its delegate, schedule it, open it.
    ///
    /// Nobody else keeps it: letting go of it unopened declines it, and later gives it up. The name was made up by the other
    /// side. What is not read holds back the writer of this stream alone.
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID)

    /// A peer sends a resource, which begins when this returns. Cancelling its progress calls it off, here and at the other
    /// side. Without a delegate it is declined.
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress)

    /// A resource has arrived, at `localURL`, from where it has to be moved before this returns; or it has not, and
    /// `error` says why. Called once for each that was announced, as long as there is a delegate.
    ///
    /// The file has the last part of the name, without what could do harm, and is readable by its owner alone. The name
    /// itself was made up by the other side, and may be a path that leads out of any directory: never append it to one.
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?)

    /// A peer shows its certificates, `MCCertificate`s with the leaf first; nil when it has no identity.
    ///
    /// Whether it may connect the handler decides, called once from any thread; later calls do nothing, and without a call
    /// in 30 seconds the answer is no. Not implemented, or without a delegate, the answer is yes.
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void)
}

extension MCSessionDelegate {
    /// Accepts everybody, like Apple's framework when a delegate does not implement this.
    public func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void
    ) {
        certificateHandler(true)
    }
}
