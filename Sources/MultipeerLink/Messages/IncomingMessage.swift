import MultipeerFraming

/// A message as it came, and what it cost the peer: that is what taking it gives back.
///
/// Small messages of one batch share one allocation: a block for each would cost more than all the rest of its way.
package struct IncomingMessage: Sendable {
    /// Where the bytes are, perhaps among those of other messages.
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
    /// A message whose `storage` is empty and whose range is not lies in `chunk`.
    private var messages: [IncomingMessage] = []
    private var chunk: [UInt8] = []
    /// Bytes of the last chunk: the next one will be like it.
    private var expected = 0

    /// Messages up to this size share a chunk.
    static let smallMessage = 4_096
    private static let chunkSize = 65_536

    @inline(__always)
    mutating func append(_ message: consuming IncomingMessage) { messages.append(message) }

    /// Copies a small message after those before it.
    @inline(__always)
    mutating func append(small payload: Span<UInt8>, cost: Int) {
        // No more than came last time: whoever trickles messages must not cost a whole chunk for each.
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
