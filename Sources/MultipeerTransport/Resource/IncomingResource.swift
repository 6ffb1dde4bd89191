import MultipeerFraming
public import MultipeerIntroduction

/// A file that a peer offers.
public final class IncomingResource: Sendable {
    /// Who offers it.
    public var peer: PeerID { receiver.peer }
    /// What the peer calls it: a label made up by the other side, never a path.
    public var name: String { receiver.opening.name }
    private let receiver: ChannelReceiver

    package init(_ receiver: ChannelReceiver) { self.receiver = receiver }
}
