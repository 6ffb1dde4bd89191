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

/// Complete messages that wait to be taken, in order. [msg.order]
struct IncomingMessages: Sendable {
    /// A message with an empty `storage` and a non-empty range lies in `chunk`.
    private var messages: [IncomingMessage] = []
    private var chunk: [UInt8] = []
    /// The size of the last chunk, as an estimate for the next.
    private var expected = 0

    /// Messages up to this size share a chunk.
    static let smallMessage = 4_096
    private static let chunkSize = 65_536

    @inline(__always)
    mutating func append(_ message: consuming IncomingMessage) { messages.append(message) }

    /// Copies a small message into the chunk.
    @inline(__always)
    mutating func append(small payload: Span<UInt8>, cost: Int) {
        // No more than was received last time: a peer that sends slowly must not cost a whole chunk for each
        // message.
        if chunk.isEmpty { chunk.reserveCapacity(min(expected, Self.chunkSize)) }
        let start = chunk.count
        chunk.append(copying: payload)
        messages.append(IncomingMessage([], start..<chunk.count, cost: cost))
    }

    mutating func takeAll() -> [IncomingMessage] {
        guard !messages.isEmpty else { return [] }
        var batch: [IncomingMessage] = []
        swap(&batch, &messages)
        messages.reserveCapacity(batch.count)
        expected = chunk.count
        guard !chunk.isEmpty else { return batch }
        var shared: [UInt8] = []
        swap(&shared, &chunk)
        for index in batch.indices where batch[index].storage.isEmpty {
            batch[index] = IncomingMessage(shared, batch[index].range, cost: batch[index].cost)
        }
        return batch
    }
}
