import MultipeerFraming

/// Messages that wait for credit and for the connection, first in, first out. Spec 8.2. [msg.order]
///
/// Invariant: `queue[..<head]` are empty husks of messages that are on their way; the first `offset` bytes of
/// `queue[head]` went ahead as parts. Husks are cut off when they are half of the array, so taking a message costs
/// the same however many wait.
struct Outbox: Sendable {
    private var queue: [[UInt8]] = []
    private var head = 0
    private var offset = 0
    /// Bytes of the messages that wait, the one that is half sent included.
    private(set) var bytes = 0
    /// Messages whose last frame was written, since the link began.
    private(set) var written = 0

    var count: Int { queue.count - head }
    /// Messages appended since the link began.
    var appended: Int { written + count }

    mutating func append(_ messages: consuming [[UInt8]]) {
        for index in messages.indices { bytes += messages[index].count }
        if head == queue.count {
            queue = messages
            head = 0
        } else {
            queue.append(contentsOf: messages)
        }
    }

    /// Whether `left` of credit lets anything go.
    func canWrite(spending left: Int) -> Bool {
        guard head < queue.count else { return false }
        let rest = queue[head].count - offset
        return MessageCredit.cost(min(rest, Limits.smallestPart)) <= left
    }

    /// Writes frames until the room, the credit or the messages are used up; `end` stops behind so many since the link began.
    /// Answers the whole messages written, their bytes, and what was spent.
    mutating func write(
        into output: inout ByteBuffer, upTo room: Int, spending credit: Int, until end: Int?
    ) -> (messages: Int, bytes: Int, spent: Int) {
        let first = head
        let last = end.map { min(queue.count, head + $0 - written) } ?? queue.count
        var (free, left, done) = (room, credit, 0)
        while head < last {
            let rest = queue[head].count &- offset
            let (size, cost) = (rest &+ FrameHeader.byteCount, MessageCredit.cost(rest))
            if size <= free, cost <= left, rest <= Limits.frame {
                done &+= writeLast(into: &output)
                free &-= size
                left &-= cost
                continue
            }
            let waits = size <= room && cost <= left && rest <= Self.recordSize
            let part = min(Limits.frame, free - FrameHeader.byteCount, left - MessageCredit.cost(0))
            guard !waits, part >= Limits.smallestPart else { break }
            writePart(part, into: &output)
            free &-= part &+ FrameHeader.byteCount
            left &-= MessageCredit.cost(part)
        }
        let messages = head - first
        written += messages
        bytes -= done
        tidy()
        return (messages, done, credit - left)
    }

    /// A message that fits into one record, and into the next output, is not worth splitting for the end of this one:
    /// it would cost the receiver a second copy.
    private static let recordSize = 16_384 - FrameHeader.byteCount

    @inline(__always)
    private mutating func writeLast(into output: inout ByteBuffer) -> Int {
        var message: [UInt8] = []
        swap(&message, &queue[head])
        head &+= 1
        if offset == 0 {
            output.appendFrame(.message, payload: message.span)
        } else {
            output.appendFrame(.message, payload: message.span.extracting(offset..<message.count))
            offset = 0
        }
        return message.count
    }

    private mutating func writePart(_ count: Int, into output: inout ByteBuffer) {
        let message = queue[head]
        output.appendFrame(.messagePart, payload: message.span.extracting(offset..<(offset + count)))
        offset += count
    }

    private mutating func tidy() {
        if head == queue.count {
            queue = []
            head = 0
        } else if head > queue.count / 2, head > 64 {
            queue.removeFirst(head)
            head = 0
        }
    }
}
