import MultipeerFraming
import TestSupport
import Testing

@Suite("10.2 Datagram headers", .computing)
struct DatagramHeaderTests {
    @Test("the header has 9 bytes: kind, association, most significant byte first [dgram.header]")
    func header() {
        var buffer = ByteBuffer()
        DatagramHeader(.records, association: 0x0102_0304_0506_0708).encode(into: &buffer)
        let bytes = buffer.takeAll()
        #expect(bytes == [1, 1, 2, 3, 4, 5, 6, 7, 8])
        let read = DatagramHeader((bytes + [0]).span)
        #expect(read == DatagramHeader(.records, association: 0x0102_0304_0506_0708))
    }

    @Test("the inner header has 5 bytes: kind, sequence number [dgram.header]")
    func content() {
        var buffer = ByteBuffer()
        ContentHeader(.message, sequence: 0xFFFE_FDFC).encode(into: &buffer)
        let bytes = buffer.takeAll()
        #expect(bytes == [1, 0xFF, 0xFE, 0xFD, 0xFC])
        let read = ContentHeader(bytes.span)
        #expect(read == ContentHeader(.message, sequence: 0xFFFE_FDFC))
    }

    @Test("both headers are read at any alignment", arguments: 0..<8)
    func alignment(_ offset: Int) {
        let filler = [UInt8](repeating: 0xff, count: offset)
        let outer = filler + [1, 1, 2, 3, 4, 5, 6, 7, 8, 0]
        let header = DatagramHeader(outer.span.extracting(droppingFirst: offset))
        #expect(header == DatagramHeader(.records, association: 0x0102_0304_0506_0708))
        let inner = filler + [1, 0xFF, 0xFE, 0xFD, 0xFC]
        let content = ContentHeader(inner.span.extracting(droppingFirst: offset))
        #expect(content == ContentHeader(.message, sequence: 0xFFFE_FDFC))
    }

    @Test("a datagram that is empty after its header, or longer than 1,200 bytes, is refused [dgram.size]")
    func sizes() {
        for count in 0...1_300 {
            let bytes = [UInt8](repeating: 2, count: count)
            let isRead = DatagramHeader(bytes.span) != nil
            #expect(isRead == (10...1_200).contains(count))
        }
    }

    @Test("every other kind is dropped [dgram.drop]", arguments: UInt8.min...UInt8.max)
    func kinds(_ kind: UInt8) {
        let isDatagram = DatagramHeader(([kind] + [UInt8](repeating: 9, count: 20)).span) != nil
        #expect(isDatagram == (kind == 1 || kind == 2))
        let isContent = ContentHeader(([kind] + [UInt8](repeating: 9, count: 12)).span) != nil
        #expect(isContent == (1...3).contains(kind))
    }

    @Test("a message has at most 1,150 bytes, a ping and a pong exactly 8 [dgram.message-max]")
    func bodies() {
        for count in 0...1_200 {
            let rest = [UInt8](repeating: 0, count: count)
            let isMessage = ContentHeader(([1] + rest).span) != nil
            let isPing = ContentHeader(([2] + rest).span) != nil
            let isPong = ContentHeader(([3] + rest).span) != nil
            #expect(isMessage == (4...1_154).contains(count))
            #expect(isPing == (count == 12) && isPong == (count == 12))
        }
    }

    @Test("the largest message fits into a datagram with both headers and a DTLS record [dgram.message-max]")
    func room() {
        let record = 13 + 16
        let longest = DatagramHeader.byteCount + record + ContentHeader.byteCount + Limits.datagramMessage
        #expect(longest <= Limits.datagram)
    }

    @Test("random bytes are a header or refused, and a header that is read is written back the same")
    func roundTrip() {
        var random = Seeded(10)
        for _ in 0..<10_000 {
            var bytes = random.bytes(Int.random(in: 0...30, using: &random))
            if !bytes.isEmpty { bytes[0] &= 3 }
            var buffer = ByteBuffer()
            if let header = DatagramHeader(bytes.span) {
                header.encode(into: &buffer)
                let written = buffer.takeAll()
                #expect(written == Array(bytes.prefix(9)))
            }
            if let header = ContentHeader(bytes.span) {
                header.encode(into: &buffer)
                let written = buffer.takeAll()
                #expect(written == Array(bytes.prefix(5)))
            }
        }
    }
}
