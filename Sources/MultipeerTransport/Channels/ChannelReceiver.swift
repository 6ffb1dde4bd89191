package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// The reading end of a channel that the peer opened. Releasing it before its end stops it: the sender receives DECLINED when
/// nothing was ever read, and CANCELLED otherwise.
package final class ChannelReceiver: Sendable {
    package let peer: PeerID
    /// The key of the peer; nil if the link is not encrypted.
    package let peerKey: Fingerprint?
    package var opening: ChannelOpening { channel.opening }
    private let channel: ChannelReceiveQueue

    package init(from peer: PeerID, with key: Fingerprint? = nil, _ channel: ChannelReceiveQueue) {
        self.peer = peer
        peerKey = key
        self.channel = channel
    }

    deinit { channel.abandon() }

    /// Returns all available pieces, at least one; nil after FIN. The next call gives back the credit of those before.
    ///
    /// One task at a time: while one waits, another gets `.inUse`. In a task that is cancelled it throws `.cancelled` instead of
    /// waiting, and the channel lives on.
    package func next() async throws(ChannelFault) -> [[UInt8]]? { try await channel.next() }

    /// Returns one piece at a time.
    package func nextPiece() async throws(ChannelFault) -> [UInt8]? { try await channel.next(upTo: 1)?.first }

    /// Takes one piece without waiting for it.
    package func takeNow() -> IncomingStream.Next { channel.takeNow() }

    /// Waits until `takeNow` returns something; or until the task is cancelled.
    package func waitUntilReadable() async { await channel.waitUntilReadable() }

    /// Offers what is there of a resumable resource, once, and waits for where its data begins: there, or at 0.
    package func resume(_ offer: ResumeOffer) async throws(ChannelFault) -> UInt64 {
        try await channel.resume(offer)
    }

    /// Why it has failed, if it has.
    package var fault: ChannelFault? { channel.fault }

    /// The digest of the FIN, once `next` has returned nil.
    package var digest: [UInt8]? { channel.digest }

    /// Stops the channel: STOP, or DONE with the code when a resource has arrived whole. Does nothing the second time, and after
    /// an abnormal end.
    package func stop(_ code: CloseCode = .cancelled) { channel.stop(code) }

    /// Confirms a resource that has arrived whole. Does nothing the second time, and before its FIN.
    package func done(_ code: CloseCode = .ok) { channel.done(code) }

    /// Waits until the channel is over: returns why it failed, or nil when it was confirmed, or when the task is cancelled.
    package func waitUntilEnded() async -> ChannelFault? { await channel.waitUntilEnded() }

    /// Bytes that were received from the link.
    package var received: UInt64 { channel.received }
}
