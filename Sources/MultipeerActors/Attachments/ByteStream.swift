import Distributed
import Multipeer
import MultipeerCore
import MultipeerTransport

/// A stream of bytes as an argument or as the result of a distributed method.
///
/// ```swift
/// distributed func store(_ bytes: ByteStream) async throws -> Int {
///     var count = 0
///     for try await piece in bytes { count += piece.count }
///     return count
/// }
/// ```
///
/// ```swift
/// let (stream, writer) = ByteStream.make()
/// async let count = actor.store(stream)
/// try await writer.write(Array("hello".utf8))
/// writer.finish()
/// print(try await count)
/// ```
///
/// The bytes are sent alongside the call, over a stream of the session, with the reader's flow control. One stream belongs to one
/// call, and is read once. Piece boundaries may change on the way.
public struct ByteStream: Sendable {
    private let source: Source

    /// Creates a stream and its writer.
    public static func make() -> (stream: ByteStream, writer: Writer) {
        let pipe = BytePipe()
        return (ByteStream(source: Source(pipe)), Writer(pipe))
    }

    /// Writes into a stream. Releasing it unfinished aborts the stream.
    public final class Writer: Sendable {
        private let pipe: BytePipe

        init(_ pipe: BytePipe) { self.pipe = pipe }

        deinit { abort() }

        /// Writes bytes; waits while 256 KiB, and what the session accepts beyond, are unread. Throws when the other side has
        /// given the stream up, or the link has ended, `busy` when too many streams and files to that peer were waiting already,
        /// and `CancellationError` when the task is cancelled.
        public func write(_ bytes: [UInt8]) async throws { try await pipe.write(bytes) }

        /// Ends the stream after what was written.
        public func finish() { pipe.finish() }

        /// Gives the stream up; reading it throws. Does nothing to one that was finished.
        public func abort() { pipe.fail(ActorCallError(.cancelled, "the stream was given up by its writer")) }
    }

    /// The source of the bytes: local, or the peer that sent the handle.
    fileprivate final class Source: Sendable {
        enum Origin: Sendable {
            case here(BytePipeReader)
            case peer(ExpectedTransfer)
            case sent
            case read
        }

        private let origin: Locked<Origin>

        /// Releasing it unread notifies the writer.
        init(_ pipe: BytePipe) { origin = Locked(.here(BytePipeReader(pipe))) }
        init(_ expectedTransfer: ExpectedTransfer) { origin = Locked(.peer(expectedTransfer)) }

        /// Returns the reader for a call; nil when the stream is not, or no longer, here.
        func send() -> BytePipeReader? {
            origin.withLock { origin in
                guard case .here(let reader) = origin else { return nil }
                origin = .sent
                return reader
            }
        }

        /// Returns the origin to the only reader.
        func read() -> Origin {
            origin.withLock { origin in
                defer { if case .here = origin { origin = .read } }
                return origin
            }
        }
    }
}

extension ByteStream: Codable {
    /// Decodes a stream that a peer has sent with a call. Only for the actor system.
    public init(from decoder: any Decoder) throws {
        let token = try decoder.singleValueContainer().decode(String.self)
        source = Source(try decoder.expectedTransfer(token))
    }

    /// Sends the stream with a call, once. Only for the actor system.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let attachments = encoder.userInfo[.attachments] as? Attachments, let reader = source.send()
        else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "a local stream can only be sent with one call of an actor"))
        }
        try container.encode(attachments.add(.stream(reader)))
    }
}

extension Decoder {
    /// Returns the transfer that the peer sends under that token.
    func expectedTransfer(_ token: String) throws -> ExpectedTransfer {
        guard let system = userInfo[.actorSystemKey] as? PeerActorSystem,
            let peer = userInfo[.sender] as? PeerID,
            AttachmentToken.isToken(token)
        else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: codingPath, debugDescription: "no stream or file of a call")
            )
        }
        return ExpectedTransfer(system.transfers, AttachmentTransfers.Key(peer: peer, token: token))
    }
}

extension ByteStream: AsyncSequence {
    /// Bytes in the order in which they were written, never empty.
    public typealias Element = [UInt8]

    /// Returns an iterator that reads from the beginning; a stream is read once.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Returns the pieces one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Phase {
            case ready
            case pipe(BytePipeReader)
            case stream(IncomingStream.Iterator)
            case over
        }

        fileprivate let source: Source
        private var phase = Phase.ready

        fileprivate init(source: Source) { self.source = source }

        /// Returns the next bytes; nil after the last. Throws when the writer gave the stream up, or the link ended, `timedOut`
        /// when the peer has not opened it 30 seconds after the first read, and `CancellationError` when the task is cancelled.
        public mutating func next() async throws -> [UInt8]? {
            switch phase {
            case .ready:
                try await begin()
                return try await next()
            case .pipe(let reader): return try await reader.next()
            case .stream(var iterator):
                defer { phase = .stream(iterator) }
                do throws(MultipeerError) {
                    return try await iterator.next()
                } catch {
                    // The code is the same for a stream that was given up.
                    if error.code == .cancelled { try Task.checkCancellation() }
                    throw error
                }
            case .over: return nil
            }
        }

        private mutating func begin() async throws {
            phase = .over
            switch source.read() {
            case .sent: throw ActorCallError(.invalidArgument, "the stream was sent with a call")
            case .read: throw ActorCallError(.invalidArgument, "the stream was already read")
            case .here(let reader): phase = .pipe(reader)
            case .peer(let expectedTransfer):
                switch try await expectedTransfer.arrival() {
                case .stream(let stream): phase = .stream(stream.makeAsyncIterator())
                case .pipe(let reader): phase = .pipe(reader)
                case .file, .place, .failed:
                    throw ActorCallError(.coding, "the peer sent something other than a stream")
                }
            }
        }
    }
}
