public import MultipeerCore
public import MultipeerFraming

/// A byte stream that a peer opened, as an asynchronous sequence of pieces.
///
/// Piece boundaries carry no meaning: the bytes are the same and in order, but divided differently. A reader that stops reading
/// holds back this stream's sender and nothing else. The sequence ends after the last byte; it throws when the other side
/// aborted, or the link ended before. Releasing the stream before its end aborts it.
///
/// One task at a time may read: while it waits, other tasks that read get an error. Ending one loop and starting another loses
/// nothing.
public final class IncomingStream: AsyncSequence, Sendable {
    /// Bytes in the order in which they were written, never empty.
    public typealias Element = [UInt8]
    /// Why the stream ended early.
    public typealias Failure = MultipeerError

    /// The peer that opened it.
    public var peer: PeerID { receiver.peer }
    /// The peer's name for it: a label of 1 to 1,024 bytes, chosen by the other side.
    public var name: String { receiver.opening.name }
    /// The peer's metadata about it, at most 1,024 bytes.
    public var metadata: [UInt8]? { receiver.opening.metadata }
    private let receiver: ChannelReceiver

    package init(_ receiver: ChannelReceiver) { self.receiver = receiver }

    /// Gives the stream up: the writer gets an error with this code, and nothing more is read.
    public func abort(_ code: CloseCode = .cancelled) { receiver.stop(code) }

    /// Returns an iterator that continues where the one before it stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// Returns the pieces one by one. Each call lets the sender send as much as the last piece had.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: IncomingStream

        /// Returns the next bytes; nil after the last.
        ///
        /// Throws `cancelled` when the task is cancelled while waiting, or when this side aborted; `cancelled` or `aborted`, with
        /// its `closeCode`, when the other side did; `busy` when the session held too much unread data; `ended` when the link
        /// ended first; `invalidArgument` while another task waits for the next bytes.
        public mutating func next() async throws(MultipeerError) -> [UInt8]? { try await stream.next() }

        /// Returns the next bytes without leaving the caller's actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(MultipeerError) -> [UInt8]? {
            try await stream.next()
        }
    }

    private func next() async throws(MultipeerError) -> [UInt8]? {
        do throws(ChannelFault) {
            return try await receiver.nextPiece()
        } catch {
            throw self.error(error)
        }
    }
}

/// For a reader that blocks a thread, or polls: the streams of Foundation.
extension IncomingStream {
    /// What can be read without waiting.
    package enum Next: Sendable {
        case piece([UInt8])
        /// Nothing now.
        case nothing
        /// The last byte was read.
        case end
        case failed(ChannelFault)
    }

    /// Takes the next bytes without waiting for them. No other task may read.
    package func takeNow() -> Next { receiver.takeNow() }

    /// Waits until `takeNow` returns something; or until the task is cancelled.
    package func waitUntilReadable() async { await receiver.waitUntilReadable() }

    /// The error of a stream that has failed.
    package func error(_ fault: ChannelFault) -> MultipeerError {
        MultipeerError(fault, in: "the stream from \(peer)")
    }
}

extension IncomingStream: CustomStringConvertible {
    /// The name, and the peer that opened it.
    public var description: String { "the stream \(name) from \(peer)" }
}
