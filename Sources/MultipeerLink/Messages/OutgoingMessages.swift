import MultipeerFraming

/// Messages that wait for credit and for the connection, first in, first out. Spec 8.2. [msg.order]
///
/// The batches in which messages were appended are kept, so a long queue is never copied. Invariant: the messages
/// before `head` of the first batch are empty, because they were written; the first `offset` bytes of the one at
/// `head` were written as parts; the batches before `next` are empty too.
struct OutgoingMessages: Sendable {
    private var first: [[UInt8]] = []
    private var head = 0
    private var offset = 0
    private var batches: [[[UInt8]]] = []
    private var next = 0
    /// The number of waiting messages, including the partially written one.
    private(set) var count = 0
    /// Their size in bytes.
    private(set) var bytes = 0
    /// The number of messages whose last frame was written, since the link began.
    private(set) var written = 0

    /// The number of messages appended since the link began.
    var appended: Int { written + count }

    init() {}

    mutating func append(_ messages: consuming [[UInt8]]) {
        guard !messages.isEmpty else { return }
        for index in messages.indices { bytes += messages[index].count }
        count += messages.count
        if head == first.count, next == batches.count {
            first = messages
            head = 0
        } else if messages.count < Self.smallBatch, next < batches.count {
            batches[batches.count - 1].append(contentsOf: messages)
        } else {
            batches.append(messages)
        }
    }

    /// Appends one message. When no other waits, it takes the place of the one before.
    mutating func append(_ message: consuming [UInt8]) {
        bytes += message.count
        count += 1
        if head == first.count, next == batches.count {
            first.removeAll(keepingCapacity: true)
            head = 0
            first.append(message)
        } else if next < batches.count {
            batches[batches.count - 1].append(message)
        } else {
            batches.append([message])
        }
    }

    /// Returns whether `left` of credit allows anything to be written.
    func canWrite(spending left: Int) -> Bool {
        guard count > 0 else { return false }
        let rest = (head < first.count ? first[head].count : batches[next][0].count) - offset
        return MessageCredit.cost(min(rest, Limits.smallestPart)) <= left
    }

    /// Writes frames until the room, the credit or the messages are used up; `end` is the number of messages since
    /// the link began after which to stop. When it is `lending`, it stops after a long payload, of which it writes only
    /// what completes a record, and lends the rest. Returns the whole messages written, their bytes, the credit
    /// consumed, and what is lent.
    mutating func write(
        into output: inout ByteBuffer, upTo room: Int, spending credit: Int, until end: Int?,
        lending isLending: Bool
    ) -> (messages: Int, bytes: Int, spent: Int, lent: LentPayload?) {
        let (before, bytesBefore) = (written, bytes)
        var lent: LentPayload?
        var (free, left) = (room, credit)
        while count > 0, written < end ?? .max, lent == nil {
            if head == first.count { advance() }
            let last = end.map { min(first.count, head + $0 - written) } ?? first.count
            if isLending, let payload = lendFirst(until: last, into: &output, free: &free, left: &left) {
                lent = payload
                continue
            }
            guard
                writeBatch(
                    until: last, into: &output, room: room, free: &free, left: &left, isLending: isLending)
            else { break }
        }
        if count == 0, first.count > 1 || !batches.isEmpty { self = OutgoingMessages(written: written) }
        return (written - before, bytesBefore - bytes, credit - left, lent)
    }

    /// Writes what is left of the first message, or a part of it, if that makes a long payload: but for the rest of the
    /// payload, which it returns.
    private mutating func lendFirst(
        until last: Int, into output: inout ByteBuffer, free: inout Int, left: inout Int
    ) -> LentPayload? {
        guard head < last else { return nil }
        let message = first[head]
        let rest = message.count - offset
        let length = min(rest, Limits.frame, free - FrameHeader.byteCount, left - MessageCredit.cost(0))
        // A message that fits into one frame waits until it fits into the output, too.
        guard length >= LentPayload.shortest, length == rest || rest > Limits.frame else { return nil }
        free -= length + FrameHeader.byteCount
        left -= MessageCredit.cost(length)
        let kind = length == rest ? FrameKind.message : .messagePart
        output.appendHeader(FrameHeader(kind, channel: 0, length: length))
        let copied = min(length, LentPayload.completing(output.count))
        output.append(message.span.extracting(offset..<(offset + copied)))
        let payload = LentPayload(bytes: message, range: (offset + copied)..<(offset + length))
        if length == rest { finishFirst() } else { offset += length }
        return payload
    }

    /// The first message is written, but for what was lent.
    private mutating func finishFirst() {
        bytes -= first[head].count
        first[head] = []
        head &+= 1
        offset = 0
        written += 1
        count -= 1
    }

    /// Writes the messages of the first batch before `last`; returns whether all were written.
    private mutating func writeBatch(
        until last: Int, into output: inout ByteBuffer, room: Int, free: inout Int, left: inout Int,
        isLending: Bool
    ) -> Bool {
        let start = head
        var done = 0
        defer {
            written += head - start
            count -= head - start
            bytes -= done
        }
        while head < last {
            let rest = first[head].count &- offset
            let (size, cost) = (rest &+ FrameHeader.byteCount, MessageCredit.cost(rest))
            if size <= free, cost <= left, rest <= Limits.frame {
                // It is lent instead of copied.
                if isLending, rest >= LentPayload.shortest { return true }
                done &+= writeLast(into: &output)
                free &-= size
                left &-= cost
                continue
            }
            let waits = size <= room && cost <= left && rest <= Self.recordSize
            let part = min(Limits.frame, free - FrameHeader.byteCount, left - MessageCredit.cost(0))
            guard !waits, part >= Limits.smallestPart else { return false }
            writePart(part, into: &output)
            free &-= part &+ FrameHeader.byteCount
            left &-= MessageCredit.cost(part)
        }
        return true
    }

    /// A message that fits into one record, and into the next output, is not split to fill this one: that would cost
    /// the receiver a second copy.
    private static let recordSize = LentPayload.record - FrameHeader.byteCount

    @inline(__always)
    private mutating func writeLast(into output: inout ByteBuffer) -> Int {
        var message: [UInt8] = []
        swap(&message, &first[head])
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
        let message = first[head]
        output.appendFrame(.messagePart, payload: message.span.extracting(offset..<(offset + count)))
        offset += count
    }

    /// Advances to the next batch.
    private mutating func advance() {
        head = 0
        first = []
        swap(&first, &batches[next])
        next += 1
        guard next > Self.smallBatch, next > batches.count / 2 else { return }
        batches.removeFirst(next)
        next = 0
    }

    /// Fewer messages than this are appended to the previous batch.
    private static let smallBatch = 32
}

extension OutgoingMessages {
    private init(written: Int) { self.written = written }
}
