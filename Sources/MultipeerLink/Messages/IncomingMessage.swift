import MultipeerFraming

/// A received message, and its cost to the peer, which is returned as credit when it is taken.
///
/// Small messages of one batch share one allocation: one for each would cost more than all other processing.
package struct IncomingMessage: Sendable {
    /// The storage of the bytes, possibly shared with other messages.
    package let storage: [UInt8]
    package let range: Range<Int>
    package let cost: Int

    package init(_ storage: [UInt8], _ range: Range<Int>, cost: Int) {
        self.storage = storage
        self.range = range
        self.cost = cost
    }

    package init(_ bytes: [UInt8], cost: Int) { self.init(bytes, 0..<bytes.count, cost: cost) }

    package var bytes: [UInt8] { range.count == storage.count ? storage : Array(storage[range]) }
}

/// Messages that were received together. The small ones lie in one chunk.
package struct IncomingBatch: Sendable, RandomAccessCollection {
    /// A message with an empty `storage` lies in `chunk`.
    fileprivate let messages: [IncomingMessage]
    /// The bytes of the small messages.
    package let chunk: [UInt8]

    fileprivate init(_ messages: consuming [IncomingMessage], chunk: consuming [UInt8]) {
        self.messages = messages
        self.chunk = chunk
    }

    package init() { self.init([], chunk: []) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { messages.count }

    package subscript(index: Int) -> IncomingMessage {
        let message = messages[index]
        return message.storage.isEmpty
            ? IncomingMessage(chunk, message.range, cost: message.cost) : message
    }

    /// Calls `body` with the range of each message in `chunk` or, for a longer one, with its bytes.
    @inline(__always)
    package func forEachPlace(_ body: (_ range: Range<Int>, _ bytes: [UInt8]?, _ cost: Int) -> Void) {
        for message in messages {
            body(message.range, message.storage.isEmpty ? nil : message.storage, message.cost)
        }
    }
}

/// Complete messages that wait to be taken, in order. [msg.order]
package struct IncomingMessages: Sendable {
    /// A message with an empty `storage` lies in `chunk`.
    private var messages: [IncomingMessage] = []
    private var chunk: [UInt8] = []
    /// The size and the number of the last ones, as an estimate for the next.
    private var expected = (bytes: 0, count: 0)

    /// Messages up to this size share a chunk.
    static let smallMessage = 4_096
    /// What one read of a connection brings: a chunk that grows copies what is in it.
    private static let chunkSize = 131_072

    package init() {}

    @inline(__always)
    mutating func append(_ message: consuming IncomingMessage) { messages.append(message) }

    /// Copies a small message into the chunk.
    @inline(__always)
    package mutating func append(small payload: Span<UInt8>, cost: Int) {
        // Not much more than was received last time: a peer that sends slowly must not cost a whole chunk for each
        // message.
        if messages.isEmpty { messages.reserveCapacity(expected.count + expected.count / 8) }
        if chunk.isEmpty {
            chunk.reserveCapacity(Swift.min(expected.bytes + expected.bytes / 8, Self.chunkSize))
        }
        let start = chunk.count
        chunk.append(copying: payload)
        messages.append(IncomingMessage([], start..<chunk.count, cost: cost))
    }

    package mutating func takeAll() -> IncomingBatch {
        guard !messages.isEmpty else { return IncomingBatch() }
        expected = (chunk.count, messages.count)
        // A message that is kept must not keep the room of those that were expected with it.
        if chunk.count < chunk.capacity / 2 { chunk = [UInt8](copying: chunk.span) }
        var taken = (messages: [IncomingMessage](), chunk: [UInt8]())
        swap(&taken.messages, &messages)
        swap(&taken.chunk, &chunk)
        return IncomingBatch(taken.messages, chunk: taken.chunk)
    }
}
