package import MultipeerCore
package import MultipeerFraming

/// The reading end of a channel that the peer opened. Letting go of it before its end stops it: the sender hears
/// DECLINED when nobody ever read, and CANCELLED otherwise.
package final class ChannelReceiver: Sendable {
    package let peer: PeerID
    package var opening: ChannelOpening { channel.opening }
    private let channel: ChannelReceiveQueue

    package init(from peer: PeerID, _ channel: ChannelReceiveQueue) {
        self.peer = peer
        self.channel = channel
    }

    deinit { channel.abandon() }

    /// All pieces that are there, at least one; nil after FIN. Asking again gives back the credit of those before.
    ///
    /// One task at a time: while one waits, another gets `.inUse`. In a task that is cancelled it throws `.cancelled`
    /// instead of waiting, and the channel lives on.
    package func next() async throws(ChannelFault) -> [[UInt8]]? { try await channel.next() }

    /// The same, one piece at a time.
    package func nextPiece() async throws(ChannelFault) -> [UInt8]? { try await channel.next(upTo: 1)?.first }

    /// What FIN brought, once `next` has answered nil.
    package var digest: [UInt8]? { channel.digest }

    /// Wants no more: STOP, or DONE with the code when a resource has come whole. The second time, and after a bad end,
    /// it does nothing.
    package func stop(_ code: CloseCode = .cancelled) { channel.stop(code) }

    /// Answers a resource that has come whole. The second time, and before its FIN, it does nothing.
    package func done(_ code: CloseCode = .ok) { channel.done(code) }

    /// Bytes that have come from the link.
    package var received: UInt64 { channel.received }
}
