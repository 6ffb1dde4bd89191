import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("8, 9 Messages and DATA that are lent", .computing)
struct LendingTests {
    private static let record = 16_384

    @Test(
        "what is written and what is lent are together what is written without lending",
        arguments: [32_767, 32_768, 49_152, 65_536, 65_537, 98_304, 98_305, 300_000])
    func same(_ size: Int) {
        let messages = [0, 5, size, 1, size, size, 70].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
        }
        let (lending, whole, receiver) = (End(), End(), End())
        lending.link.enqueue(messages)
        whole.link.enqueue(messages)
        let bytes = Self.written(by: lending)
        receiver.receive(bytes)
        #expect(receiver.link.takeMessages().map(\.bytes) == messages)
        #expect(bytes.count <= whole.written(upTo: Self.room).count)
        #expect(lending.link.queuedMessages == 0 && lending.link.queuedBytes == 0)
        #expect(lending.link.statistics.messagesSent == messages.count)
    }

    @Test(
        "before a payload is lent, the output ends with a record, and the lent bytes are those of the message"
    )
    func records() throws {
        let end = End()
        let message = [UInt8](repeating: 7, count: 65_536)
        end.link.enqueue([[1, 2, 3], message])
        var output = ByteBuffer()
        let sent = end.link.fill(&output, upTo: Self.room, now: end.now, lending: true)
        let rest = try #require(sent.rest)
        #expect(output.count == Self.record && sent.messages == 2 && rest.bytes == message)
        // Two headers and the short message are in the output as well.
        #expect(rest.range == (Self.record - 19)..<65_536)
    }

    @Test("a short message is never lent, and nothing is when nothing may be")
    func short() {
        let end = End()
        var output = ByteBuffer()
        end.link.enqueue([[UInt8](repeating: 1, count: 32_000)])
        #expect(end.link.fill(&output, upTo: Self.room, now: end.now, lending: true).rest == nil)
        end.link.enqueue([[UInt8](repeating: 1, count: 65_536)])
        #expect(end.link.fill(&output, upTo: Self.room, now: end.now).rest == nil)
    }

    @Test("credit limits what is lent, too [msg.credit-limit]")
    func credit() {
        let end = End(LinkConfiguration(remote: .small(message: 1_000_000, credit: 100_000)))
        end.link.enqueue([[UInt8](repeating: 1, count: 300_000)])
        let bytes = Self.written(by: end)
        #expect(bytes.count <= 100_000 && bytes.count > 90_000)
        #expect(end.link.queuedMessages == 1)
    }

    @Test(
        "pieces of a channel that are lent arrive as those that are not, in order and whole",
        arguments: [32_767, 32_768, 65_535, 65_536, 65_537, 100_000, 200_000])
    func data(_ size: Int) {
        let pieces = [1, size, 3, 0, 40_000].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
        }
        let (end, receiver) = (
            End(LinkConfiguration(remote: .small(channelCredit: 1_000_000))),
            End(LinkConfiguration(local: .small(channelCredit: 1_000_000)))
        )
        let number = end.link.open(.stream)
        for piece in pieces { end.link.write(piece, to: number) }
        end.link.finish(number)
        receiver.receive(Self.written(by: end))
        var got: [UInt8] = []
        for case .data(_, let bytes) in receiver.link.takeChannelEvents() { got += bytes }
        #expect(got == pieces.flatMap { $0 })
        var done = (pieces: 0, bytes: 0, ended: false)
        for event in end.link.takeChannelEvents() {
            if case .wrote(_, let pieces, let bytes) = event {
                done.pieces += pieces
                done.bytes += bytes
            }
            if case .ended = event { done.ended = true }
        }
        #expect(done == (pieces.count, got.count, true))
    }

    @Test("a DATA may be as long as a frame, but fills one record while messages wait [channel.priority]")
    func length() throws {
        let end = End()
        let number = end.link.open(.resource)
        end.link.write([UInt8](repeating: 1, count: 200_000), to: number)
        var output = ByteBuffer()
        let alone = try #require(
            end.link.fill(&output, upTo: Self.room, now: end.now, lending: true).rest)
        #expect(output.count % Self.record == 0 && alone.range.upperBound == 65_536)
        end.link.enqueue([[UInt8]](repeating: [UInt8](repeating: 2, count: 60_000), count: 4))
        #expect(end.link.fill(&output, upTo: Self.room, now: end.now, lending: true).rest == nil)
    }

    @Test("credit limits a DATA that is lent, too [channel.credit-limit]")
    func channelCredit() {
        let end = End()
        let number = end.link.open(.stream)
        end.link.write([UInt8](repeating: 1, count: 400_000), to: number)
        let bytes = Self.written(by: end)
        #expect(bytes.count > 262_144 && bytes.count < 262_144 + 200)
    }

    private static let room = 131_088

    /// Returns everything that the link writes now, with what it lends in its place.
    private static func written(by end: End) -> [UInt8] {
        var bytes: [UInt8] = []
        while end.link.wantsToSend {
            var output = ByteBuffer()
            let sent = end.link.fill(&output, upTo: room, now: end.now, lending: true)
            let piece = output.takeAll() + (sent.rest.map { Array($0.bytes[$0.range]) } ?? [])
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }
}
