public import MultipeerCore
public import MultipeerFraming

/// A byte stream to one peer, in order, without boundaries between writes.
///
/// ```swift
/// let stream = try await session.openStream(to: bob, name: "log")
/// try await stream.write(Array("first\n".utf8))
/// try await stream.finish()
/// ```
///
/// Releasing it unfinished aborts it.
public final class OutgoingStream: Sendable {
    /// The receiving peer.
    public var peer: PeerID { sender.peer }
    /// The name under which it was opened.
    public var name: String { sender.opening.name }
    private let sender: ChannelSender

    package init(_ sender: ChannelSender) { self.sender = sender }

    /// Sends bytes after those before; waits while 512 KiB are not yet sent. Several tasks may write: each array is sent
    /// contiguously.
    ///
    /// Throws `cancelled` when the task is cancelled while waiting, and then nothing of these bytes was sent; `declined`,
    /// `cancelled`, `busy` or `aborted` when the other side gave the stream up, with its `closeCode`; `ended` when the link
    /// ended.
    public func write(_ bytes: [UInt8]) async throws(MultipeerError) {
        do throws(ChannelFault) { try await sender.write(bytes) } catch { throw failure(error) }
    }

    /// Ends the stream after what was written, and waits until that was handed to the connection. In either case, nothing more
    /// can be written.
    ///
    /// Throws like `write`. Cancelling the task ends the wait, not the stream.
    public func finish() async throws(MultipeerError) {
        sender.finish()
        if let fault = await sender.outcome() { throw failure(fault) }
    }

    /// Gives the stream up, with what was not sent yet. The reader gets an error with this code; does nothing after `finish` has
    /// returned.
    public func abort(_ code: CloseCode = .cancelled) { sender.abort(code) }

    /// Waits for the end, and returns the error that ended it early; nil when it was finished. In a task that is cancelled it
    /// returns `cancelled`, and the stream lives on.
    package func failure() async -> MultipeerError? {
        await sender.outcome().map { failure($0) }
    }

    private func failure(_ fault: ChannelFault) -> MultipeerError {
        MultipeerError(fault, in: "the stream to \(peer)")
    }
}

extension OutgoingStream: CustomStringConvertible {
    /// The name, and the peer that it goes to.
    public var description: String { "the stream \(name) to \(peer)" }
}
