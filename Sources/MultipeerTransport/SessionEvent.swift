public import MultipeerIntroduction
public import MultipeerMesh

/// What a session tells its owner, in the order in which it happened.
public enum SessionEvent: Sendable {
    /// A whole reliable message arrived.
    case message(Message)
    /// A peer's state changed; never twice the same state in a row for one peer.
    case peer(PeerID, PeerState)
}

/// A reliable message as it was sent, byte for byte.
public struct Message: Sendable {
    /// Who sent it.
    public let peer: PeerID
    public let bytes: [UInt8]

    package init(peer: PeerID, bytes: [UInt8]) {
        self.peer = peer
        self.bytes = bytes
    }
}
