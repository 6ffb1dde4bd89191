import MultipeerCore
import MultipeerFraming

/// The control frames of one link that wait to be written, and the link's own rate limit for those that an application
/// causes.
struct ControlQueue: Sendable {
    private var pings = OutstandingPings()
    private var pongs: [UInt64] = []
    /// Frames that are sent unchanged, in order.
    private var frames: [Frame] = []
    private var grease: FrameKind?
    /// The CLOSE still to be written.
    private var closeFrame: Frame?
    private var pacing: TokenBucket

    /// The rate limit for PINGs that an application causes: below what the peer allows, with room left for other
    /// control frames.
    enum Pacing {
        static let capacity = 300
        static let perSecond: Int64 = 80
        static let reserve = 100
        /// The interval for one more.
        static let pause = Duration.milliseconds(13)
    }

    init(grease: FrameKind?, now: Moment) {
        self.grease = grease
        pacing = TokenBucket(capacity: Pacing.capacity, perSecond: Pacing.perSecond, now: now)
    }

    /// Counts traffic, which makes room for more control frames. [limit.control]
    @inline(__always)
    mutating func refill(_ cost: Int) { pacing.refill(cost) }

    /// Returns whether anything may be written now, after `written` messages.
    func isReady(after written: Int, at now: Moment) -> Bool {
        !pongs.isEmpty || !frames.isEmpty || grease != nil || pings.isUrgent
            || isMarkDue(after: written, at: now)
    }

    /// Returns when a mark may be written that our own rate limit now delays.
    func markDeadline(after written: Int, at now: Moment) -> Moment? {
        pings.isMarkDue(written: written) && !mayMark(at: now) ? now + Pacing.pause : nil
    }

    private func isMarkDue(after written: Int, at now: Moment) -> Bool {
        pings.isMarkDue(written: written) && mayMark(at: now)
    }

    /// Returns whether our own rate limit allows a PING for a mark.
    private func mayMark(at now: Moment) -> Bool { pacing.available(at: now) > Pacing.reserve }
}

// MARK: queues

extension ControlQueue {
    /// Whether a PING of this end has no answer yet.
    var awaitsPong: Bool { pings.hasOpen }

    /// Whether a PING waits to be written.
    var wantsPing: Bool { pings.isUrgent }

    mutating func ask() { pings.ask() }
    mutating func probe() { pings.probe() }
    mutating func mark(_ id: UInt64, after position: Int) { pings.mark(id, after: position) }
    mutating func answered(_ token: UInt64, at now: Moment) -> (roundTrip: Duration, events: [Link.Event])? {
        pings.answered(token, at: now)
    }

    /// Queues the answer to a PING. Answers accumulate only when the peer sends PINGs and does not read.
    mutating func pinged(_ token: UInt64) { pongs.append(token) }

    var hasTooManyAnswers: Bool { pongs.count > TokenBucket.capacity }

    mutating func append(_ frame: Frame) { frames.append(frame) }

    /// Whether no unchanged frame is waiting: every RESET and DONE has been written.
    var hasNoFrames: Bool { frames.isEmpty }

    /// Removes the STOP of a channel that is not yet written. Returns false when there is none.
    mutating func takeBackStop(of channel: UInt32) -> Bool {
        let unsaid = frames.firstIndex { if case .stop(channel, _) = $0 { true } else { false } }
        if let unsaid { frames.remove(at: unsaid) }
        return unsaid != nil
    }

    mutating func part(_ close: Frame) { closeFrame = close }

    var hasCloseFrame: Bool { closeFrame != nil }
}

// MARK: writing

extension ControlQueue {
    mutating func write(_ frame: Frame, into output: inout ByteBuffer, at now: Moment) {
        _ = pacing.consume(at: now)
        frame.encode(into: &output)
    }

    mutating func writeAnswers(into output: inout ByteBuffer, end: Int, at now: Moment) {
        let size = FrameHeader.byteCount + 8
        let count = min(pongs.count, max(0, (end - output.count) / size))
        for token in pongs.prefix(count) { write(.pong(token), into: &output, at: now) }  // [live.pong]
        pongs.removeFirst(count)
        var written = 0
        while written < frames.count, output.count + Self.longestReply <= end {
            switch frames[written] {
            case .reset, .done, .resume: frames[written].encode(into: &output)  // [channel.exempt]
            default: write(frames[written], into: &output, at: now)
            }
            written += 1
        }
        if written > 0 { frames.removeFirst(written) }
    }

    /// RESUME has 40 bytes of payload, the others fewer.
    private static let longestReply = FrameHeader.byteCount + 40

    /// Writes PING, for every reason due after `written` messages, and GREASE.
    mutating func writePing(
        into output: inout ByteBuffer, end: Int, after written: Int, at now: Moment
    ) {
        func fits(_ payload: Int) -> Bool { output.count + FrameHeader.byteCount + payload <= end }
        if pings.isUrgent || isMarkDue(after: written, at: now), fits(8) {  // [live.ping]
            write(.ping(pings.next(written: written, at: now)), into: &output, at: now)
        }
        if let kind = grease, fits(4) {  // [frame.grease]
            write(.ignorable(kind, channel: 0, [0, 0, 0, 0]), into: &output, at: now)
            grease = nil
        }
    }

    mutating func writeClose(into output: inout ByteBuffer, end: Int) {
        guard let closeFrame, end - output.count >= FrameHeader.byteCount + 2 + Limits.closeReason else {
            return
        }
        closeFrame.encode(into: &output)
        self.closeFrame = nil
    }
}
