import MultipeerCore
import MultipeerFraming
import MultipeerLink

/// One end of a link, driven by hand.
final class End {
    var link: Link
    var now: Moment
    private var decoder = FrameDecoder()
    private var taken: [Link.Event] = []

    init(_ configuration: LinkConfiguration = .init(), at now: Moment = .start) {
        self.now = now
        link = Link(configuration, now: now)
    }

    convenience init(isMesh: Bool) { self.init(LinkConfiguration(isMesh: isMesh)) }

    var wantsToSend: Bool { link.wantsToSend }
    var reassembly: ReassemblyTurns.Report { link.reassembly }

    /// Returns everything that the link writes now, as bytes.
    func written(upTo room: Int = 1_048_576) -> [UInt8] {
        var output = ByteBuffer()
        while link.wantsToSend {
            let before = output.count
            _ = link.fill(&output, upTo: room, now: now)
            if output.count == before { break }
        }
        return output.takeAll()
    }

    /// Returns the same as frames.
    func frames(upTo room: Int = 1_048_576) -> [Frame] {
        var collector = Collector()
        var decoder = FrameDecoder()
        let bytes = written(upTo: room)
        let used = try? decoder.decode(bytes.span, into: &collector)
        return used == bytes.count ? collector.frames : []
    }

    /// Takes bytes; continues after a frame that waits for the owner, whose events are kept for `events`.
    func receive(_ bytes: [UInt8]) {
        var rest = bytes
        while !rest.isEmpty {
            let used = link.receive(rest.span, through: &decoder, at: now)
            rest.removeFirst(used)
            if rest.isEmpty || used == 0 { return }
            taken = events()
        }
    }

    func receive(_ frames: Frame...) { receive(frames) }

    func receive(_ frames: [Frame]) {
        var bytes = ByteBuffer()
        for frame in frames { frame.encode(into: &bytes) }
        receive(bytes.takeAll())
    }

    func advance(_ seconds: Double) {
        now = now.later(seconds)
        link.advance(to: now)
    }

    func events() -> [Link.Event] {
        var events = taken
        taken = []
        while let event = link.nextEvent() { events.append(event) }
        return events
    }

    func channelEvents() -> [ChannelEvent] { link.takeChannelEvents() }

    func messages() -> [[UInt8]] { link.takeMessages().map(\.bytes) }
}

/// Keeps the frames that a link writes. Ignorable ones never arrive here.
private struct Collector: FrameSink {
    var frames: [Frame] = []
    var frameLimit: Int { Limits.frame }
    var wantsFrames: Bool { true }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        if let frame = try? Frame(header, payload) { frames.append(frame) }
    }
}

extension Moment {
    static let start = Moment(nanoseconds: 1_000_000_000_000)

    /// Returns a later moment, in whole milliseconds.
    func later(_ seconds: Double) -> Moment { self + .milliseconds((seconds * 1_000).rounded()) }
}

extension LinkLimits {
    static func small(
        message: Int = 100_000, credit: Int = 65_536, channels: UInt32 = 64, channelCredit: UInt32 = 262_144
    ) -> LinkLimits {
        LinkLimits(
            maxMessage: UInt64(message), maxChannels: channels, channelCredit: channelCredit,
            messageCredit: UInt32(credit))
    }
}

extension ChannelOpening {
    static let stream = ChannelOpening(kind: .stream, name: "s")
    static let resource = ChannelOpening(kind: .resource, name: "r", size: 3)

    /// The cost of OPEN of `stream`: the fields are 5 and 5 bytes long.
    static let streamCost = 1_034
}

extension Array where Element == UInt8 {
    static func ones(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }
}
