public import MultipeerCore
package import MultipeerLink
public import MultipeerMesh

/// What a session tells its owner, in the order in which it happened.
public enum SessionEvent: Sendable {
    /// A whole message arrived.
    case message(Message)
    /// A peer opened a stream. Reading it is what makes its bytes come; letting go of it declines it.
    case stream(IncomingStream)
    /// A peer offers a file. Nothing of it is written before it is asked for; letting go of it declines it.
    case resource(IncomingResource)
    /// A peer's state changed; never twice the same state in a row for one peer.
    case peer(PeerID, PeerState)
    /// A peer's user wants to compare verification codes. Nothing was answered: ask your own user, and call
    /// `verificationCode(for:)` if they want it, too; never call it just because this came. At most once for each link.
    case verificationRequested(PeerID)
}

extension SessionEvent: CustomStringConvertible {
    /// One line for a log, without the bytes of messages. Names are those that peers gave themselves: escape them before
    /// showing them.
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
    /// Who sent it.
    public let peer: PeerID
    /// How it travelled. An unreliable one may have been sent before or after what came before it.
    public let delivery: Delivery
    private let content: IncomingMessage

    package init(peer: PeerID, _ content: IncomingMessage, _ delivery: Delivery = .reliable) {
        self.peer = peer
        self.delivery = delivery
        self.content = content
    }

    /// How many bytes there are.
    public var count: Int { content.range.count }

    /// The bytes. Small messages share memory with those that arrived together: this copies them out, so that keeping
    /// one does not keep the others.
    public var bytes: [UInt8] { content.bytes }

    /// Lends the bytes without a copy.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(content.storage.span.extracting(content.range))
    }
}

extension Message: CustomStringConvertible, CustomReflectable {
    /// How long it is and whose, not what it says.
    public var description: String { "a message of \(count) bytes from \(peer)" }

    /// Nothing: what a message says does not get into a log by accident.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
