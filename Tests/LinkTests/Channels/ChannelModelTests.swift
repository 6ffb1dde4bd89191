import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("9 Channels against a model", .computing)
struct ChannelModelTests {
    static let window = 20_000
    static let places = 6

    @Test(
        "whatever both ends do, bytes arrive once and in order, each channel ends once on each side, and no limit is exceeded [stream.end] [channel.limit] [channel.credit-limit] [channel.credit-return]",
        arguments: 1...24 as ClosedRange<UInt64>)
    func model(_ seed: UInt64) {
        let limits = LinkLimits.small(channels: UInt32(Self.places), channelCredit: UInt32(Self.window))
        let pair = Pair(limits, limits, seed: seed)
        let (one, other) = (ChannelModel(pair.one, seed: seed), ChannelModel(pair.other, seed: seed + 1_000))
        var random = Seeded(seed)
        func step(_ act: (ChannelModel) -> Void) {
            for model in [one, other] { act(model) }
            pair.exchange(room: Int.random(in: 2_048...70_000, using: &random))
            one.check(against: other)
            other.check(against: one)
            pair.advance(0.05)
        }
        for _ in 0..<200 { step { $0.act() } }
        for _ in 0..<150 { step { $0.finish() } }
        #expect(pair.one.link.end == nil)
        #expect(pair.other.link.end == nil)
        one.checkOver()
        other.checkOver()
        // All places are free again.
        pair.advance(60)
        pair.settle()
        for _ in 0..<Self.places {
            one.open()
            other.open()
        }
        pair.settle()
        for end in [pair.one, pair.other] {
            let events = end.channelEvents()
            #expect(events.count { if case .began = $0 { true } else { false } } == Self.places)
            #expect(events.count { if case .opened = $0 { true } else { false } } == Self.places)
        }
    }

    @Test(
        "credit is conserved: a stream far longer than the window arrives, and the window is restored after it [channel.credit-return]",
        arguments: [1_000, 16_376, 20_000, 262_144])
    func conserved(_ window: Int) {
        let limits = LinkLimits.small(credit: 1 << 20, channelCredit: UInt32(window))
        let pair = Pair(limits, limits)
        let number = pair.one.link.open(.stream)
        let total = 40 * window
        for _ in 0..<40 { pair.one.link.write(.ones(window), to: number) }
        pair.one.link.finish(number)
        var (received, isFinished) = (0, false)
        for _ in 0..<5_000 where !isFinished && pair.isWell {
            pair.exchange()
            pair.advance(0.05)
            for event in pair.other.channelEvents() {
                switch event {
                case .data(_, let bytes):
                    received += bytes.count
                    pair.other.link.consumed(bytes.count, of: number)
                case .finished: isFinished = true
                default: break
                }
            }
        }
        #expect(pair.isWell)
        #expect(isFinished)
        #expect(received == total)
    }

    @Test("streams at full speed never flood the peer with CREDIT, even when no time passes [limit.control]")
    func fullSpeed() {
        let pair = Pair()
        var received = 0
        let numbers = (0..<20).map { _ in pair.one.link.open(.stream) }
        for number in numbers { for _ in 0..<8 { pair.one.link.write(.ones(65_536), to: number) } }
        for _ in 0..<20_000 where received < 20 * 8 * 65_536 && pair.isWell {
            pair.exchange(room: 131_088)
            for case .data(let number, let bytes) in pair.other.channelEvents() {
                received += bytes.count
                pair.other.link.consumed(bytes.count, of: number)
            }
        }
        #expect(pair.isWell)
        #expect(received == 20 * 8 * 65_536)
    }

    @Test("a thousand short streams one after the other do not flood the peer either [channel.exempt]")
    func shortStreams() {
        let pair = Pair()
        var finished = 0
        for _ in 0..<1_000 {
            let number = pair.one.link.open(.stream)
            pair.one.link.write([1], to: number)
            pair.one.link.finish(number)
        }
        for _ in 0..<5_000 where finished < 1_000 && pair.isWell {
            pair.exchange()
            for event in pair.other.channelEvents() {
                switch event {
                case .opened(_, _, let cost): pair.other.link.consumed(cost)
                case .data(let number, let bytes): pair.other.link.consumed(bytes.count, of: number)
                case .finished: finished += 1
                default: break
                }
            }
        }
        #expect(pair.isWell)
        #expect(finished == 1_000)
    }
}
