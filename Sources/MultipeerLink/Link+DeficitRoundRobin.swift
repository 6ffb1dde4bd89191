import MultipeerFraming

// MARK: messages and channels side by side

extension Link {
    /// Writes OPENs once every earlier RESET is written: the peer has then freed the channel.
    mutating func writeOpenings(into output: inout ByteBuffer, end: Int) {
        guard control.hasNoFrames else { return }
        let spent = outgoing.writeOpenings(into: &output, upTo: end, spending: sendWindow.left, at: now)
        guard spent > 0 else { return }
        sendWindow.spend(spent)  // [channel.cost]
        refill(spent)
    }

    /// Writes messages, streams and resources to `output` according to their shares. [channel.priority]
    /// [channel.starvation]
    ///
    /// When it is `lending` and no message waits, it stops after a long DATA whose payload it lends.
    mutating func writeShares(
        into output: inout ByteBuffer, end: Int, counting sent: inout Sent, lending isLending: Bool
    ) {
        let start = output.count
        var bulkLeft = Self.bulk
        while true {
            let before = output.count
            let share = roundRobin.next(
                messages: hasMessages && !hasReachedPendingClose,
                streams: outgoing.isReady(.streams), resources: outgoing.isReady(.resources))
            guard let share else { return }
            if share == .messages {
                // In their turn messages have room for a record at least.
                let room = min(end - before, max(roundRobin.leftForMessages, LentPayload.record))
                let written = writeMessages(into: &output, upTo: room)
                sent.messages += written.messages
                sent.bytes += written.bytes
            } else {
                // A frame without room waits for the next output and keeps its share: no new cycle begins before.
                let room = min(end - before, bulkLeft)
                let turn = outgoing.writeTurn(
                    of: share, into: &output, upTo: room, mayCut: before == start,
                    lending: isLending && !hasMessages)
                refill(turn.payload)
                bulkLeft -= turn.size
                if let lent = turn.lent {
                    sent.rest = lent
                    return roundRobin.spend(turn.size, on: share)
                }
            }
            guard output.count > before else { return }
            roundRobin.spend(output.count - before, on: share)
        }
    }

    private var hasReachedPendingClose: Bool {
        pendingClose.map { outgoingMessages.written >= $0.after } ?? false
    }

    /// The maximum number of stream and resource bytes per call, so that a message never waits for more of them: the longest
    /// DATA.
    private static let bulk = FrameHeader.byteCount + Limits.frame
}
