import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("8 Messages", .computing)
struct MessageTests {
    @Test(
        "messages of every size arrive once and in order, however the bytes are split, and memory is bounded [msg.order] [msg.empty] [msg.credit-return]",
        arguments: 1...24 as ClosedRange<UInt64>)
    func order(_ seed: UInt64) {
        var random = Seeded(seed)
        let limits = LinkLimits.small(
            message: Int.random(in: 65_536...300_000, using: &random),
            credit: Int.random(in: 4_096...200_000, using: &random))
        let pair = Pair(limits, limits, seed: seed)
        let sizes = [0, 1, 1_023, 1_024, 16_376, 65_536, 65_537, Int(limits.maxMessage)]
        let sent = (0..<80).map { number in
            let size =
                Bool.random(using: &random) ? sizes[number % 8] : Int.random(in: 0...3_000, using: &random)
            return [UInt8](repeating: UInt8(number), count: size)
        }
        var (waiting, got, held) = (sent[...], [[UInt8]](), [IncomingMessage]())
        for _ in 0..<20_000 where got.count < sent.count && pair.isWell {
            let batch = waiting.prefix(Int.random(in: 0...9, using: &random))
            waiting.removeFirst(batch.count)
            pair.one.link.enqueue(Array(batch))
            pair.exchange(room: Int.random(in: 2_048...70_000, using: &random))
            held += pair.other.link.takeMessages()
            let bytes = held.reduce(0) { $0 + $1.bytes.count }
            #expect(bytes <= Int(limits.messageCredit) + Int(limits.maxMessage))
            for message in held.prefix(Int.random(in: 0...5, using: &random)) {
                pair.other.link.consumed(message.cost)
                got.append(message.bytes)
                held.removeFirst()
            }
        }
        #expect(got == sent)
        #expect(pair.isWell)
        #expect(pair.one.link.queuedMessages == 0 && pair.one.link.queuedBytes == 0)
    }

    @Test(
        "a receiver that reads nothing stops the sender within the credit [msg.credit-limit] [msg.credit-return]"
    )
    func stopped() {
        let pair = Pair(.small(), .small(credit: 65_536))
        pair.one.link.enqueue([[UInt8]](repeating: [UInt8](repeating: 1, count: 1_000), count: 500))
        pair.settle()
        let held = pair.other.link.takeMessages()
        #expect(held.count == 65_536 / 1_064)
        #expect(!pair.one.wantsToSend)
        #expect(pair.one.link.queuedMessages == 500 - held.count)
        pair.other.link.consumed(held.reduce(0) { $0 + $1.cost })
        pair.settle()
        #expect(pair.other.link.takeMessages().count == 65_536 / 1_064)
        #expect(pair.isWell)
    }

    @Test("empty messages are bounded by credit too [msg.cost] [msg.empty]")
    func emptyBound() {
        let pair = Pair(.small(), .small(credit: 6_400))
        pair.one.link.enqueue([[UInt8]](repeating: [], count: 1_000))
        pair.settle()
        let held = pair.other.link.takeMessages()
        #expect(held.map(\.bytes) == [[UInt8]](repeating: [], count: 100))
        #expect(held.allSatisfy { $0.cost == 64 })
    }

    @Test("messages that arrive slowly use no more memory than they cost [msg.cost]")
    func trickle() {
        let end = End()
        let held = (0..<100).flatMap { _ in
            end.receive(.message([1]))
            return end.link.takeMessages()
        }
        #expect(held.count == 100)
        #expect(held.allSatisfy { $0.storage.capacity <= $0.cost })
    }

    @Test("a message longer than the window arrives, and memory stays bounded [msg.credit-return]")
    func longerThanWindow() {
        let pair = Pair(.small(), .small(message: 300_000, credit: 8_192))
        pair.one.link.enqueue([[UInt8](repeating: 7, count: 300_000), [UInt8](repeating: 8, count: 100_000)])
        pair.settle()
        let messages = pair.other.messages()
        #expect(messages.map(\.count) == [300_000])
        #expect(pair.isWell)
    }

    @Test("a message may be as long as the limit and no longer [msg.max]")
    func maximum() {
        let end = End(.init(local: .small(message: 65_536 + 2_000, credit: 200_000)))
        end.receive(
            .messagePart([UInt8](repeating: 1, count: 65_536)), .message([UInt8](repeating: 2, count: 2_000)))
        #expect(end.messages().map(\.count) == [67_536])
        end.receive(
            .messagePart([UInt8](repeating: 1, count: 65_536)), .message([UInt8](repeating: 2, count: 2_001)))
        #expect(end.link.end == .violation(.messageTooLong(67_537)))
        #expect(end.frames() == [.close(.tooLarge, reason: "")])
        #expect(end.messages().isEmpty)
    }

    @Test("a part beyond the limit is refused at once [msg.max]")
    func tooLongPart() {
        let end = End(.init(local: .small(message: 65_536)))
        end.receive(.messagePart([UInt8](repeating: 1, count: 60_000)))
        #expect(end.link.end == nil)
        end.receive(.credit(channel: 0, limit: 1 << 30))
        end.now = end.now + .seconds(1)
        _ = end.frames()
        end.receive(.messagePart([UInt8](repeating: 1, count: 5_537)))
        #expect(end.link.end == .violation(.messageTooLong(65_537)))
    }

    @Test("a part of less than 1,024 bytes is a flood [msg.part-size]", arguments: [0, 1, 1_023])
    func shortPart(_ count: Int) {
        let end = End()
        end.receive(.messagePart([UInt8](repeating: 1, count: count)))
        #expect(end.link.end == .violation(.partTooShort(count)))
        #expect(end.frames() == [.close(.flood, reason: "")])
    }

    @Test("a frame that exceeds the credit by one byte is refused [msg.credit-limit] [msg.cost]")
    func beyondCredit() {
        for (size, isWithin) in [(10_000 - 64, true), (10_001 - 64, false)] {
            let end = End(.init(local: .small(credit: 10_000)))
            end.receive(.message([UInt8](repeating: 1, count: size)))
            #expect(end.link.end == (isWithin ? nil : .violation(.beyondMessageCredit(by: 1))))
            #expect(end.frames() == (isWithin ? [] : [.close(.flow, reason: "")]))
        }
    }

    @Test(
        "credit that does not grow is refused [msg.credit-grow]", arguments: [0, 65_535, 65_536] as [UInt64])
    func noGrowth(_ limit: UInt64) {
        let end = End(.init(remote: .small(credit: 65_536)))
        end.receive(.credit(channel: 0, limit: limit))
        #expect(end.link.end == .violation(.creditDidNotGrow(limit)))
        #expect(end.frames() == [.close(.protocolError, reason: "")])
    }

    @Test("the largest possible credit causes no overflow [msg.credit-grow]")
    func largestCredit() {
        let end = End(.init(remote: .small(credit: 0)))
        end.link.enqueue([[1], [2]])
        #expect(!end.wantsToSend)
        end.receive(.credit(channel: 0, limit: .max))
        #expect(end.frames() == [.message([1]), .message([2])])
        end.receive(.credit(channel: 0, limit: .max))
        #expect(end.link.end == .violation(.creditDidNotGrow(.max)))
    }

    @Test(
        "credit is returned in steps of a quarter window, as in the example of the chapter [msg.credit-return]"
    )
    func example() throws {
        let end = End(.init(local: .small(credit: 65_536)))
        end.receive(.messagePart([UInt8](repeating: 1, count: 20_000)))
        #expect(end.frames() == [.credit(channel: 0, limit: 85_600)])
        end.receive(.messagePart([UInt8](repeating: 1, count: 10_000)))
        #expect(end.frames() == [])
        end.receive(.message([UInt8](repeating: 1, count: 10_000)))
        #expect(end.frames() == [])
        let message = try #require(end.link.takeMessages().first)
        #expect(message.cost == 40_192)
        end.link.consumed(message.cost)
        #expect(end.frames() == [.credit(channel: 0, limit: 105_728)])
    }

    @Test("messages that were not written when the link ends are counted [msg.failed]")
    func failed() {
        let end = End(.init(remote: .small(credit: 1_200)))
        end.link.enqueue([[1, 2], [UInt8](repeating: 3, count: 5_000), [4, 5, 6]])
        #expect(end.frames() == [.message([1, 2]), .messagePart([UInt8](repeating: 3, count: 1_070))])
        end.link.lost()
        #expect(end.link.queuedMessages == 2)
        #expect(end.link.queuedBytes == 5_003)
        #expect(!end.wantsToSend)
    }

    @Test("a short message is not split at the end of a batch, a long one fills it [msg.order]")
    func batches() {
        let end = End()
        end.link.enqueue([[UInt8](repeating: 1, count: 3_000), [UInt8](repeating: 2, count: 3_000)])
        var output = ByteBuffer()
        let sent = end.link.fill(&output, upTo: 5_000, now: end.now)
        #expect(sent == Link.Sent(messages: 1, bytes: 3_000, mayContinue: true))
        #expect(output.count == 3_008)
        _ = end.written()
        end.link.enqueue([[UInt8](repeating: 3, count: 200_000)])
        output.removeAll()
        #expect(end.link.fill(&output, upTo: 16_384, now: end.now) == Link.Sent(mayContinue: true))
        #expect(output.count == 16_384)
    }

    @Test("single messages and arrays of them are written in the order in which they were queued [msg.order]")
    func singlesAndArrays() {
        let end = End()
        var output = ByteBuffer()
        for first in UInt8(0)..<3 {
            output.removeAll()
            end.link.enqueue([first])
            end.link.enqueue([[first + 10], [first + 11]])
            end.link.enqueue([first + 20])
            #expect(end.link.queuedMessages == 4)
            #expect(end.link.fill(&output, upTo: 16_384, now: end.now).messages == 4)
            let payloads = output.read { bytes in
                stride(from: FrameHeader.byteCount, to: bytes.count, by: FrameHeader.byteCount + 1).map {
                    bytes[$0]
                }
            }
            #expect(payloads == [first, first + 10, first + 11, first + 20])
            #expect(end.link.queuedMessages == 0 && end.link.queuedBytes == 0)
        }
    }

    @Test("a message that comes alone, after many that came together, is kept without the room for as many")
    func room() {
        var incoming = IncomingMessages()
        let message = [UInt8](repeating: 1, count: 1_024)
        for _ in 0..<100 { incoming.append(small: message.span, cost: message.count) }
        #expect(incoming.takeAll().count == 100)
        incoming.append(small: message.span, cost: message.count)
        let alone = incoming.takeAll()
        #expect(alone.map(\.bytes) == [message])
        #expect(alone.chunk.capacity < 2 * message.count)
    }

    @Test("an output that everything fitted into is the last one until there is more")
    func continuation() {
        let end = End()
        end.link.enqueue([[1, 2, 3]])
        var output = ByteBuffer()
        #expect(
            end.link.fill(&output, upTo: 16_384, now: end.now)
                == Link.Sent(messages: 1, bytes: 3, mayContinue: false))
        #expect(!end.wantsToSend)
    }
}
