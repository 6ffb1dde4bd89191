public import MultipeerCore
package import MultipeerLink
public import MultipeerMesh

/// An event of a session, delivered in the order in which it happened.
public enum SessionEvent: Sendable {
    /// A whole message arrived.
    case message(Message)
    /// A peer opened a stream. Its bytes come only as they are read; releasing it unread declines it.
    case stream(IncomingStream)
    /// A peer offers a file. Nothing is written before `receive`; releasing it declines it.
    case resource(IncomingResource)
    /// A peer's state changed; never twice the same state in a row for one peer.
    case peer(PeerID, PeerState)
    /// A peer's user wants to compare verification codes. The session has not responded: ask your own user, and call
    /// `verificationCode(for:)` if they want it, too; never call it just because of this event. At most once for each link.
    case verificationRequested(PeerID)
}

extension SessionEvent: CustomStringConvertible {
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
        }
    }
}

/// A message as it was sent, byte for byte.
public struct Message: Sendable {
    /// The sender.
    public let peer: PeerID
    /// How the message was sent. An unreliable one may have been sent before or after the message before it.
    public let delivery: Delivery
    private let content: IncomingMessage

    package init(peer: PeerID, _ content: IncomingMessage, _ delivery: Delivery = .reliable) {
        self.peer = peer
        self.delivery = delivery
        self.content = content
    }

    /// The number of bytes.
    public var count: Int { content.range.count }

    /// A copy of the bytes. Small messages share memory with those that arrived together: copying lets you keep one without
    /// keeping the others.
    public var bytes: [UInt8] { content.bytes }

    /// Calls `body` with the bytes, without a copy.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(content.storage.span.extracting(content.range))
    }
}

extension Message: CustomStringConvertible, CustomReflectable {
    /// The length and the sender, not the contents.
    public var description: String { "a message of \(count) bytes from \(peer)" }

    /// Empty: the contents of a message do not get into a log by accident.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
