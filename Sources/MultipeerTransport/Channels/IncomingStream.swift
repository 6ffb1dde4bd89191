public import MultipeerCore
public import MultipeerFraming

/// A stream of bytes that a peer opened, as an asynchronous sequence of what came.
///
/// Where one piece ends says nothing: the bytes are the same and in order, but cut anew. A reader that stops asking holds
/// back this stream's sender and nothing else. The sequence ends after the last byte; it throws when the other side
/// aborted, or the link ended before. Letting go of the stream before its end aborts it.
///
/// One task at a time may read: while it waits, others that ask get an error. Breaking off a loop and starting another
/// loses nothing.
public final class IncomingStream: AsyncSequence, Sendable {
    /// Bytes as they came, never none.
    public typealias Element = [UInt8]
    /// Why it ended before its time.
    public typealias Failure = MultipeerError

    /// Who opened it.
    public var peer: PeerID { receiver.peer }
    /// What the peer calls it: a label of 1 to 1,024 bytes, made up by the other side.
    public var name: String { receiver.opening.name }
    /// What the peer said about it, 1,024 bytes at the most.
    public var metadata: [UInt8]? { receiver.opening.metadata }
    private let receiver: ChannelReceiver

    package init(_ receiver: ChannelReceiver) { self.receiver = receiver }

    /// Gives the stream up: the writer gets an error with this code, and nothing more is read.
    public func abort(_ code: CloseCode = .cancelled) { receiver.stop(code) }

    /// Goes on where the iterator before it stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// Hands out the pieces. Asking for the next one makes room for as much as the last one was.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: IncomingStream

        /// The next bytes; nil after the last.
        ///
        /// Throws `cancelled` when the task is cancelled while waiting, or when this side aborted; `cancelled` or `aborted`,
        /// with its `closeCode`, when the other side did; `busy` when the session held too much unread; `ended` when the
        /// link ended first; `invalidArgument` while another task waits for the next bytes.
        public mutating func next() async throws(MultipeerError) -> [UInt8]? { try await stream.next() }

        /// The same, without leaving the actor that asks.
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
            throw MultipeerError(error, in: "the stream from \(peer)")
        }
    }
}

extension IncomingStream: CustomStringConvertible {
    /// Its name and who opened it.
    public var description: String { "the stream \(name) from \(peer)" }
}
