import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("8 Messages that are lent", .computing)
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
