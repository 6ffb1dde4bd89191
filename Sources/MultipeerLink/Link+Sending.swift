package import MultipeerCore
package import MultipeerFraming

// MARK: what goes to the peer

extension Link {
    /// Whole messages whose last frame was written, and their bytes.
    package struct Sent: Equatable, Sendable {
        package var messages = 0
        package var bytes = 0

        package init(messages: Int = 0, bytes: Int = 0) {
            self.messages = messages
            self.bytes = bytes
        }
    }

    /// Puts messages behind those that wait. None is longer than the peer's HELLO allows, and none may come after
    /// `closeWhenDrained`.
    package mutating func enqueue(_ messages: consuming [[UInt8]]) { outbox.append(messages) }

    /// Asks the peer to say when it has read everything enqueued so far: `markReached` brings the number back.
    package mutating func mark(_ id: UInt64) { pings.mark(id, after: outbox.appended) }

    /// Asks the peer whether it is there, at once: `probeAnswered`.
    package mutating func probe() { pings.probe() }

    /// Messages that were not written whole. When the link has ended they never will be. [msg.failed]
    package var queuedMessages: Int { outbox.count }
    /// Bytes of those.
    package var queuedBytes: Int { outbox.bytes }

    /// Whether `fill` would write anything.
    package var wantsToSend: Bool {
        switch phase {
        case .open:
            hasControl || hasMessages || !outgoing.isIdle || outgoing.canOpen(spending: purse.left, at: now)
        case .closing: parting != nil
        case .ended: false
        }
    }

    /// Appends frames to `output`: control first, then messages while the credit lasts, then what channels have, up to
    /// `room` bytes. With at least 2,048 bytes of room it always gets on; the rest goes with a later call.
    package mutating func fill(_ output: inout ByteBuffer, upTo room: Int, now: Moment) -> Sent {
        self.now = now
        let end = output.count + room
        switch phase {
        case .open: break
        case .closing:
            writeParting(into: &output, end: end)
            return Sent()
        case .ended: return Sent()
        }
        writeControl(into: &output, end: end)
        writeOpenings(into: &output, end: end)
        var sent = Sent()
        if outgoing.isIdle {
            sent = writeMessages(into: &output, upTo: end - output.count)
        } else {
            writeShares(into: &output, end: end, counting: &sent)
        }
        partWhenDrained()
        writeParting(into: &output, end: end)
        return sent
    }

    mutating func writeMessages(into output: inout ByteBuffer, upTo room: Int) -> Sent {
        let sent = outbox.write(into: &output, upTo: room, spending: spendable, until: farewell?.after)
        purse.spend(sent.spent)
        earn(sent.spent)
        counted.messagesSent += sent.messages
        counted.bytesSent += sent.bytes
        return Sent(messages: sent.messages, bytes: sent.bytes)
    }

    /// Whether a message could be written.
    var hasMessages: Bool { outbox.canWrite(spending: spendable) }

    /// The credit that messages may use.
    private var spendable: Int { outgoing.isShort(of: purse.left, at: now) ? 0 : purse.left }
}

extension Link {
    private var hasControl: Bool {
        !pongs.isEmpty || !replies.isEmpty || grease != nil || pings.isUrgent
            || !incomingChannels.creditDue.isEmpty || grant.due(reassembling: reassembling) != nil
            || (pings.isMarkDue(written: outbox.written) && mayMark)
    }

    /// Whether our own pace allows a PING for a mark.
    var mayMark: Bool { pacing.available(at: now) > Pacing.reserve }

    private mutating func writeControl(into output: inout ByteBuffer, end: Int) {
        func fits(_ payload: Int) -> Bool { output.count + FrameHeader.byteCount + payload <= end }
        if let limit = grant.due(reassembling: reassembling), fits(8) {  // [msg.credit-return]
            write(.credit(channel: 0, limit: limit), into: &output)
            grant.announced(limit)
        }
        writeAnswers(into: &output, end: end)
        let isMarkDue = pings.isMarkDue(written: outbox.written) && mayMark
        if pings.isUrgent || isMarkDue, fits(8) {  // [live.ping]
            write(.ping(pings.next(written: outbox.written, at: now)), into: &output)
        }
        if let kind = grease, fits(4) {  // [frame.grease]
            write(.ignorable(kind, channel: 0, [0, 0, 0, 0]), into: &output)
            grease = nil
        }
    }

    private mutating func writeAnswers(into output: inout ByteBuffer, end: Int) {
        let size = FrameHeader.byteCount + 8
        let count = min(pongs.count, max(0, (end - output.count) / size))
        for token in pongs.prefix(count) { write(.pong(token), into: &output) }  // [live.pong]
        pongs.removeFirst(count)
        writeReplies(into: &output, end: end)
        while output.count + size <= end, let (channel, limit) = incomingChannels.nextCredit() {
            write(.credit(channel: channel, limit: limit), into: &output)  // [channel.credit-return]
        }
    }

    private mutating func writeReplies(into output: inout ByteBuffer, end: Int) {
        var written = 0
        while written < replies.count, output.count + Self.longestReply <= end {
            switch replies[written] {
            case .reset, .done: replies[written].encode(into: &output)  // [channel.free]
            default: write(replies[written], into: &output)
            }
            written += 1
        }
        if written > 0 { replies.removeFirst(written) }
    }

    /// SAS frames have 32 bytes of payload, the others fewer.
    private static let longestReply = FrameHeader.byteCount + 32

    private mutating func write(_ frame: Frame, into output: inout ByteBuffer) {
        _ = pacing.charge(at: now)
        frame.encode(into: &output)
    }

    private mutating func writeParting(into output: inout ByteBuffer, end: Int) {
        guard let parting, end - output.count >= FrameHeader.byteCount + 2 + Limits.closeReason else {
            return
        }
        parting.encode(into: &output)
        self.parting = nil
    }
}
