public import MultipeerCore
public import MultipeerMesh
public import MultipeerSecurity

extension Session {
    /// An event of a session, delivered in the order in which it happened.
    public enum Event: Sendable {
        /// A whole message arrived.
        case message(Message)
        /// A peer opened a stream. Its bytes come only as they are read; releasing it unread declines it.
        case stream(IncomingStream)
        /// A peer offers a file. Nothing is written before `receive`; releasing it declines it.
        case resource(IncomingResource)
        /// A peer's state changed; never twice the same state in a row for one peer.
        indirect case peer(PeerID, PeerState)
        /// A peer's user wants to compare verification codes. The session has not responded: ask your own user, and call
        /// `verificationCode(for:)` if they want it, too; never call it just because of this event. At most once for each link.
        indirect case verificationRequested(PeerID)
        /// More is known of who is at the other end of a link than when it was made: both users confirmed a code, or this one
        /// confirmed the peer's id. What was known when it was made is in `connectionInfo(for:)`.
        indirect case verified(PeerID, PeerVerification)
    }
}

extension Session.Event: CustomStringConvertible {
    /// One line for a log, without the bytes of messages. Peers choose their own names: escape them before showing them.
    public var description: String {
        switch self {
        case .message(let message): "\(message)"
        case .stream(let stream): "\(stream)"
        case .resource(let resource): "the file \(resource.name) from \(resource.peer)"
        case .peer(let peer, .notConnected(let reason)): "\(peer) is not connected: \(reason)"
        case .peer(let peer, .connecting): "\(peer) is being connected"
        case .peer(let peer, .connected): "\(peer) is connected"
        case .verificationRequested(let peer): "\(peer) wants to compare verification codes"
        case .verified(let peer, let verification): "\(peer) is \(verification)"
        }
    }
}
