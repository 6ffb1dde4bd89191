import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("15 Limits", .computing)
struct BudgetTests {
    @Test("the 401st control frame at one moment is a flood [limit.control]")
    func flood() {
        let end = End()
        end.receive((0..<400).map { .ping($0) })
        #expect(end.link.end == nil)
        end.receive(.ping(400))
        #expect(end.link.end == .violation(.tooManyControlFrames))
        #expect(end.frames() == [.close(.flood, reason: "")])
    }

    @Test("the token bucket gains a hundred frames a second, and holds at most four hundred [limit.control]")
    func refill() {
        var budget = TokenBucket(now: .start)
        let asked: [(frames: Int, second: Double)] = [
            (400, 0), (1, 0.009), (100, 1), (1, 1), (400, 3_600), (1, 3_600),
        ]
        let answers = asked.map { budget.consume($0.frames, at: .start.later($0.second)) }
        #expect(answers == [true, false, true, false, true, false])
    }

    @Test("traffic adds one frame for each 16 KiB, in either direction [limit.control]")
    func traffic() {
        let end = End()
        end.receive((0..<400).map { .ping($0) })
        _ = end.frames()
        end.receive(.message([UInt8](repeating: 1, count: 16_384 - 64)), .pong(9))
        #expect(end.link.end == nil)
        end.link.enqueue([[UInt8](repeating: 1, count: 16_384 - 64)])
        _ = end.frames()
        end.receive(.pong(9))
        #expect(end.link.end == nil)
        end.receive(.pong(9))
        #expect(end.link.end == .violation(.tooManyControlFrames))
    }

    @Test("ignorable frames count, although they are not read [limit.control] [frame.ignorable]")
    func ignorable() {
        let end = End()
        let frame = Frame.ignorable(Grease.frameKind(3), channel: 9, [1, 2])
        end.receive([Frame](repeating: frame, count: 400))
        #expect(end.link.end == nil)
        #expect(end.link.statistics.ignoredFrames == 400)
        end.receive(frame)
        #expect(end.link.end == .violation(.tooManyControlFrames))
    }

    @Test(
        "two own links at full speed never flood each other, even when no time passes [limit.control]",
        arguments: [(0, 65_536), (64, 65_536), (1_500, 65_536), (60_000, 262_144), (64, 4_194_304)])
    func fullSpeed(_ size: Int, _ credit: Int) {
        let pair = Pair(.small(credit: credit), .small(credit: credit))
        let batch = [[UInt8]](repeating: [UInt8](repeating: 1, count: size), count: 64)
        for round in 0..<3_000 where pair.isWell {
            for end in [pair.one, pair.other] {
                if end.link.queuedMessages < 64 { end.link.enqueue(batch) }
                for message in end.link.takeMessages() { end.link.consumed(message.cost) }
                end.link.mark(UInt64(round))
            }
            pair.exchange()
        }
        #expect(pair.one.link.end == nil)
        #expect(pair.other.link.end == nil)
        #expect(pair.other.link.statistics.messagesReceived > 2_000)
    }

    @Test("an application that sends marks all the time is slowed down, not refused [limit.control]")
    func manyMarks() {
        let pair = Pair()
        var reached = 0
        for round in 0..<2_000 as Range<UInt64> {
            for end in [pair.one, pair.other] {
                end.link.enqueue([[1]])
                end.link.mark(round)
            }
            pair.exchange()
            pair.advance(0.001)
            for end in [pair.one, pair.other] {
                for message in end.link.takeMessages() { end.link.consumed(message.cost) }
            }
            reached += pair.one.events().count { if case .markReached = $0 { true } else { false } }
            _ = pair.other.events()
        }
        #expect(pair.isWell)
        for _ in 0..<200 where reached < 2_000 {
            pair.advance(0.013)
            pair.settle()
            reached += pair.one.events().count { if case .markReached = $0 { true } else { false } }
        }
        #expect(reached == 2_000)
    }

    @Test("eight empty DATA in a row are allowed, nine are a flood [limit.empty]")
    func emptyData() {
        let end = End()
        end.receive(.open(channel: 1, ChannelOpening(kind: .stream, name: "a")))
        end.receive([Frame](repeating: .data(channel: 1, []), count: 8))
        end.receive(.data(channel: 1, [1]))
        end.receive([Frame](repeating: .data(channel: 1, []), count: 8))
        #expect(end.link.end == nil)
        end.receive(.data(channel: 1, []))
        #expect(end.link.end == .violation(.tooManyEmptyFrames))
        #expect(end.frames() == [.close(.flood, reason: "")])
    }

    @Test("a peer that sends PINGs and never reads does not make answers accumulate [limit.control]")
    func unreadAnswers() {
        let end = End()
        for second in 0..<10 as Range<UInt64> where end.link.end == nil {
            end.advance(1)
            end.receive((0..<100).map { .ping(second * 100 + $0) })
        }
        #expect(end.link.end == .violation(.tooManyControlFrames))
    }
}
