import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("15 Reassembly beyond the window", .computing)
struct ReassemblyTurnTests {
    private static func end() -> End {
        let end = End(.init(local: .small(message: 1 << 20, credit: 65_536)))
        end.link.hasTurn = false
        return end
    }

    private static let part = Frame.messagePart(.ones(10_000))

    @Test(
        "without the turn a message gets no credit beyond the window, and with it it does [limit.reassembly]")
    func credit() {
        let end = Self.end()
        end.receive([Self.part, Self.part, Self.part])
        #expect(!end.reassembly.wants)
        end.receive([Self.part, Self.part, Self.part])
        #expect(end.reassembly.wants)
        #expect(end.frames() == [])
        end.link.hasTurn = true
        let limit: UInt64 = 65_536 + 6 * 10_064
        #expect(end.frames() == [.credit(channel: 0, limit: limit)])
        end.receive([Self.part, .message([1])])
        #expect(end.reassembly.isHeldUp)
        #expect(end.reassembly.wants)
        for message in end.link.takeMessages() { end.link.consumed(message.cost) }
        #expect(!end.reassembly.wants)
    }

    @Test(
        "without the turn credit for data that was read is still returned [limit.reassembly] [msg.credit-return]"
    )
    func taken() {
        let end = Self.end()
        end.receive(.message(.ones(30_000)), .messagePart(.ones(30_000)))
        #expect(end.frames() == [])
        for message in end.link.takeMessages() { end.link.consumed(message.cost) }
        let limit: UInt64 = 65_536 + 30_064
        #expect(end.frames() == [.credit(channel: 0, limit: limit)])
    }

    @Test(
        "two own links with messages longer than the window deliver them one after the other [limit.reassembly]"
    )
    func bothEnd() {
        let pairs = (0..<3).map { Pair(.small(), .small(message: 400_000, credit: 65_536), seed: UInt64($0)) }
        var turns = ReassemblyTurns(messageCredit: 65_536)
        for pair in pairs {
            pair.other.link.hasTurn = false
            pair.one.link.enqueue([.ones(400_000), .ones(300_000)])
        }
        var got = [0, 0, 0]
        for _ in 0..<3_000 where got != [2, 2, 2] {
            for (index, pair) in pairs.enumerated() {
                pair.exchange()
                for message in pair.other.link.takeMessages() {
                    got[index] += 1
                    pair.other.link.consumed(message.cost)
                }
                turns.report(.init(rawValue: UInt32(index)), pair.other.link.reassembly, at: .start)
                for (other, pair) in pairs.enumerated() {
                    pair.other.link.hasTurn = turns.holder?.rawValue == UInt32(other)
                }
            }
            let beyond = pairs.count { $0.other.link.reassembly.wants && $0.other.link.hasTurn }
            #expect(beyond <= 1)
        }
        #expect(got == [2, 2, 2])
        #expect(turns.holder == nil)
    }

    @Test("the turn is passed on in the order of requests [limit.reassembly]")
    func order() {
        var turns = ReassemblyTurns(messageCredit: 65_536)
        let ids = (0..<3 as Range<UInt32>).map { ConnectionID(rawValue: $0) }
        for id in ids { turns.report(id, .init(wants: true, brought: 0), at: .start) }
        #expect(turns.holder == ids[0])
        turns.remove(ids[1], at: .start)
        turns.report(ids[0], .init(wants: false, brought: 9), at: .start)
        #expect(turns.holder == ids[2])
        turns.remove(ids[2], at: .start)
        #expect(turns.holder == nil)
        #expect(turns.deadline == nil)
    }

    @Test("a holder that sends next to nothing for 5 s is ended, if another link waits [limit.reassembly]")
    func slow() {
        var turns = ReassemblyTurns(messageCredit: 65_536)
        let (one, other) = (ConnectionID(rawValue: 1), ConnectionID(rawValue: 2))
        turns.report(one, .init(wants: true, brought: 100), at: .start)
        #expect(turns.deadline == nil)
        #expect(turns.advance(to: Moment.start.later(60)) == nil)
        turns.report(other, .init(wants: true, brought: 5), at: Moment.start.later(60))
        #expect(turns.deadline == Moment.start.later(65))
        turns.report(one, .init(wants: true, brought: 100 + 65_536), at: Moment.start.later(64))
        #expect(turns.advance(to: Moment.start.later(65)) == nil)
        turns.report(one, .init(wants: true, brought: 100 + 131_071), at: Moment.start.later(66))
        #expect(turns.advance(to: Moment.start.later(69.9)) == nil)
        #expect(turns.advance(to: Moment.start.later(70)) == one)
    }

    @Test("a holder with a small credit has to bring no more than that in 5 s [limit.reassembly]")
    func narrow() {
        var turns = ReassemblyTurns(messageCredit: 4_096)
        let (one, other) = (ConnectionID(rawValue: 1), ConnectionID(rawValue: 2))
        turns.report(one, .init(wants: true, brought: 0), at: .start)
        turns.report(other, .init(wants: true, brought: 0), at: .start)
        turns.report(one, .init(wants: true, brought: 4_096), at: Moment.start.later(4))
        #expect(turns.advance(to: Moment.start.later(5)) == nil)
        turns.report(one, .init(wants: true, brought: 8_191), at: Moment.start.later(9))
        #expect(turns.advance(to: Moment.start.later(10)) == one)
    }

    @Test("a holder that is blocked by this side is not ended [limit.reassembly]")
    func heldUp() {
        var turns = ReassemblyTurns(messageCredit: 65_536)
        let (one, other) = (ConnectionID(rawValue: 1), ConnectionID(rawValue: 2))
        turns.report(one, .init(wants: true, brought: 0, isHeldUp: true), at: .start)
        turns.report(other, .init(wants: true, brought: 0), at: .start)
        #expect(turns.advance(to: Moment.start.later(5)) == nil)
        turns.report(one, .init(wants: true, brought: 0), at: Moment.start.later(5))
        #expect(turns.advance(to: Moment.start.later(10)) == one)
    }
}
