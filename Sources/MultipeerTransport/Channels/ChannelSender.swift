package import MultipeerCore
package import MultipeerFraming

/// The writing end of a channel that this side opened. Releasing it unfinished gives the channel up.
package final class ChannelSender: Sendable {
    package let peer: PeerID
    package var opening: ChannelOpening { channel.opening }
    private let channel: ChannelSendQueue

    package init(to peer: PeerID, _ channel: ChannelSendQueue) {
        self.peer = peer
        self.channel = channel
    }

    deinit { channel.abandon() }

    /// Waits for what the receiver of a resumable resource has.
    package func resumption() async throws(ChannelFault) -> ResumeOffer { try await channel.resumption() }

    /// Begins a resumable resource, at the offset of the receiver's offer or at 0, before anything is written.
    package func begin(at offset: UInt64) { channel.begin(at: offset) }

    /// Queues a piece; waits while 512 KiB are queued. When it throws, nothing of the piece was queued, and unless it throws
    /// `.cancelled` because the task was cancelled, nothing more can be.
    package func write(_ bytes: [UInt8]) async throws(ChannelFault) { try await channel.write(bytes) }

    /// Queues FIN after what was written. Never waits; does nothing the second time, and after the end.
    package func finish(digest: [UInt8]? = nil) { channel.finish(digest: digest) }

    /// Gives the channel up, with what is queued. Does nothing the second time, and after the end.
    package func abort(_ code: CloseCode = .cancelled) { channel.abort(code) }

    /// Calls `body` once with what `outcome` returns, on the loop's thread or at once. Only one can wait like that.
    package func whenSettled(_ body: @escaping @Sendable (ChannelFault?) -> Void) {
        channel.whenSettled(body)
    }

    /// Returns how it ended: nil when the FIN of a stream was written, or a resource was confirmed by DONE(OK). Several tasks may
    /// wait. In a task that is cancelled it returns `.cancelled`, and the channel lives on.
    package func outcome() async -> ChannelFault? { await channel.outcome() }

    /// Bytes that were handed to the link, in whole pieces.
    package var written: UInt64 { channel.written }
}
