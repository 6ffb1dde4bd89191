import MultipeerFraming
import TestSupport
import Testing

@Suite("2.2 Bytes", .computing)
struct ByteBufferTests {
    @Test("bytes written at the tail are read at the head", arguments: UInt64(0)..<20)
    func queue(seed: UInt64) {
        var random = Seeded(seed)
        var buffer = ByteBuffer()
        var model: [UInt8] = []
        for _ in 0..<500 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let bytes = random.bytes(Int.random(in: 0...200, using: &random))
                buffer.append(bytes)
                model += bytes
            case 2:
                let value = UInt32(truncatingIfNeeded: random.next())
                buffer.append(value)
                model += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
            case 3:
                let count = Int.random(in: 0...model.count, using: &random)
                buffer.discard(count)
                model.removeFirst(count)
            default:
                let filled = Int.random(in: 0...50, using: &random)
                let written = buffer.write(upTo: 50) { room in
                    for index in 0..<filled { room[index] = 0xAB }
                    return filled
                }
                #expect(written == filled)
                model += [UInt8](repeating: 0xAB, count: filled)
            }
            let held = buffer.read { [UInt8](copying: $0) }
            #expect(held == model)
        }
        let taken = buffer.takeAll()
        #expect(taken == model)
        #expect(buffer.count == 0)
    }

    @Test("the buffer does not grow while its contents fit")
    func capacity() {
        var buffer = ByteBuffer(capacity: 1_024)
        for _ in 0..<100 {
            buffer.append([UInt8](repeating: 1, count: 500))
            buffer.discard(300)
            buffer.append([UInt8](repeating: 2, count: 800))
            buffer.discard(1_000)
        }
        #expect(buffer.capacity == 1_024)
    }

    @Test("numbers of every width have their most significant byte first [int.big-endian]")
    func numbers() throws {
        var buffer = ByteBuffer()
        buffer.append(UInt8(1))
        buffer.append(UInt16(0x0203))
        buffer.append(UInt32(0x0405_0607))
        buffer.append(UInt64(0x0809_0A0B_0C0D_0E0F))
        let bytes = buffer.takeAll()
        #expect(bytes == Array(1...15))
        var cursor = ByteCursor()
        #expect(try cursor.integer(UInt8.self, in: bytes.span) == 1)
        #expect(try cursor.integer(UInt16.self, in: bytes.span) == 0x0203)
        #expect(try cursor.integer(UInt32.self, in: bytes.span) == 0x0405_0607)
        #expect(try cursor.integer(UInt64.self, in: bytes.span) == 0x0809_0A0B_0C0D_0E0F)
        for count in [1, Int.max, -1] {
            #expect(throws: FramingError.truncated) { try cursor.skip(count, in: bytes.span) }
        }
    }
}
