import MultipeerCore
import MultipeerFraming
import MultipeerLink

/// One end of a link, driven by a vector: everything that it writes is sent at once.
struct LinkEndpoint: ~Copyable {
    var link: Link
    var now = Moment.start
    private var decoder = FrameDecoder()
    /// Whether CLOSE is written out: nothing is left of the link.
    private var isClosed = false

    init(maxMessage: UInt64 = 1 << 32, messageCredit: UInt32 = .max) {
        let limits = LinkLimits(
            maxMessage: maxMessage, maxChannels: 64, channelCredit: 262_144, messageCredit: messageCredit)
        self.init(local: limits, remote: .standard)
    }

    init(local: LinkLimits, remote: LinkLimits) {
        link = Link(.init(local: local, remote: remote), now: .start)
    }

    mutating func receive(_ bytes: [UInt8]) { _ = link.receive(bytes.span, through: &decoder, at: now) }

    mutating func written() -> [Frame] {
        var output = ByteBuffer()
        while link.wantsToSend { _ = link.fill(&output, upTo: 65_536, now: now) }
        if case .closing = link.phase { isClosed = true }
        var collector = Collector()
        var decoder = FrameDecoder()
        _ = try? decoder.decode(output.takeAll().span, into: &collector)
        return collector.frames
    }

    var deadline: Moment? { mutating get { isClosed ? nil : link.deadline } }

    var state: String {
        switch link.phase {
        case .open: "open"
        case .closing: isClosed ? "ended" : "closing"
        case .ended: "ended"
        }
    }

    /// The rule that the peer broke, and the code that it is sent.
    var violation: Violation? {
        if case .violation(let violation) = link.end { violation } else { nil }
    }

    private struct Collector: FrameSink {
        var frames: [Frame] = []
        var frameLimit: Int { Limits.frame }
        var wantsFrames: Bool { true }

        mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
            if let frame = try? Frame(header, payload) { frames.append(frame) }
        }
    }
}

extension Frame {
    var isPing: Bool {
        if case .ping = self { true } else { false }
    }
}
