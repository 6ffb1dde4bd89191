package import MultipeerCore
package import MultipeerFraming

// MARK: sending

extension Link {
    /// The number of messages whose last frame was written, and their bytes.
    package struct Sent: Equatable, Sendable {
        package var messages = 0
        package var bytes = 0
        /// What has to be sent after the output.
        package var rest: LentPayload?
        /// Whether another call may write more at once.
        package var mayContinue: Bool

        package init(
            messages: Int = 0, bytes: Int = 0, rest: LentPayload? = nil, mayContinue: Bool = false
        ) {
            self.messages = messages
            self.bytes = bytes
            self.rest = rest
            self.mayContinue = mayContinue
        }
    }

    /// Queues messages. None may be longer than the peer's HELLO allows, and none may follow `closeWhenDrained`.
    package mutating func enqueue(_ messages: consuming [[UInt8]]) { outgoingMessages.append(messages) }

    /// Queues one message, without an array for it.
    package mutating func enqueue(_ message: consuming [UInt8]) { outgoingMessages.append(message) }

    /// Requests a notification when the peer has read everything enqueued so far: `markReached` with the same number.
    package mutating func mark(_ id: UInt64) { control.mark(id, after: outgoingMessages.appended) }

    /// Probes the peer at once: `probeAnswered`.
    package mutating func probe() { control.probe() }

    /// The number of messages not completely written. When the link has ended they never will be. [msg.failed]
    package var queuedMessages: Int { outgoingMessages.count }
    /// Their size in bytes.
    package var queuedBytes: Int { outgoingMessages.bytes }

    /// Whether `fill` would write anything.
    package var wantsToSend: Bool {
        switch phase {
        case .open:
            hasControl || hasMessages || !outgoing.isIdle
                || outgoing.canOpen(spending: sendWindow.left, at: now)
        case .closing: control.hasCloseFrame
        case .ended: false
        }
    }

    /// Appends frames to `output`: control first, then messages while the credit lasts, then channels, up to `room`
    /// bytes. With at least 2,048 bytes of room it always makes progress; the rest follows in a later call. When it is
    /// `lending`, the output ends after a long payload, and the rest of that is in the result.
    package mutating func fill(
        _ output: inout ByteBuffer, upTo room: Int, now: Moment, lending: Bool = false
    ) -> Sent {
        self.now = now
        let start = output.count
        let end = start + room
        switch phase {
        case .open: break
        case .closing:
            control.writeClose(into: &output, end: end)
            return Sent()
        case .ended: return Sent()
        }
        writeControl(into: &output, end: end)
        writeOpenings(into: &output, end: end)
        var sent = Sent()
        if outgoing.isIdle {
            sent = writeMessages(into: &output, upTo: end - output.count, lending: lending)
        } else {
            writeShares(into: &output, end: end, counting: &sent, lending: lending)
        }
        partWhenDrained()
        // A mark after the messages that were just written: nothing else would have it written soon.
        if sent.rest == nil {
            control.writePing(into: &output, end: end, after: outgoingMessages.written, at: now)
        }
        if sent.rest == nil { control.writeClose(into: &output, end: end) }
        let count = output.count - start
        if count > 0 || sent.rest != nil { liveness.sent(at: now) }
        // Otherwise no limit was reached: what was not written waits for credit, or there is nothing.
        sent.mayContinue =
            sent.rest != nil || queuedMessages > 0 || count >= LentPayload.record
            || room < LentPayload.record && count > 0
        return sent
    }

    mutating func writeMessages(
        into output: inout ByteBuffer, upTo room: Int, lending: Bool = false
    ) -> Sent {
        let sent = outgoingMessages.write(
            into: &output, upTo: room, spending: spendable, until: pendingClose?.after, lending: lending)
        sendWindow.spend(sent.spent)
        refill(sent.spent)
        counted.messagesSent += sent.messages
        counted.bytesSent += sent.bytes
        return Sent(messages: sent.messages, bytes: sent.bytes, rest: sent.lent)
    }

    /// Whether a message can be written.
    var hasMessages: Bool { outgoingMessages.canWrite(spending: spendable) }

    /// The credit that messages may use. Inlined, as what it asks is: to call what only reads a large value, Swift copies it.
    @inline(__always)
    private var spendable: Int { outgoing.isShort(of: sendWindow.left, at: now) ? 0 : sendWindow.left }
}

extension Link {
    private var hasControl: Bool {
        control.isReady(after: outgoingMessages.written, at: now) || !incomingChannels.creditDue.isEmpty
            || receiveWindow.due(reassembling: assembler.reassembling) != nil
    }

    private mutating func writeControl(into output: inout ByteBuffer, end: Int) {
        let size = FrameHeader.byteCount + 8
        if let limit = receiveWindow.due(reassembling: assembler.reassembling), output.count + size <= end {
            control.write(.credit(channel: 0, limit: limit), into: &output, at: now)  // [msg.credit-return]
            receiveWindow.announced(limit)
        }
        control.writeAnswers(into: &output, end: end, at: now)
        while output.count + size <= end, let (channel, limit) = incomingChannels.nextCredit() {
            control.write(
                .credit(channel: channel, limit: limit), into: &output, at: now)  // [channel.credit-return]
        }
        control.writePing(into: &output, end: end, after: outgoingMessages.written, at: now)
    }
}
