import MultipeerFraming
import TestSupport
import Testing

@Suite("7 Frames: cutting the stream", .computing)
struct FrameDecoderTests {
    @Test("all frames come out wherever the stream is split")
    func splitEverywhere() throws {
        let bytes = Samples.bytes(Samples.frames)
        for split in 0...bytes.count {
            var decoder = FrameDecoder()
            var sink = Collector()
            #expect(try decoder.decode(bytes.span.extracting(0..<split), into: &sink) == split)
            let rest = bytes.count - split
            #expect(try decoder.decode(bytes.span.extracting(split..<bytes.count), into: &sink) == rest)
            #expect(try sink.frames() == Samples.frames)
            #expect(sink.joined <= 1)
        }
    }

    @Test("what is missing of a long payload is received in its place, without a copy")
    func inPlace() throws {
        let payload = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let bytes = Samples.bytes(.message(payload))
        var decoder = FrameDecoder()
        var sink = Collector()
        #expect(decoder.missingBytes == 0)
        #expect(try decoder.decode(bytes.span.extracting(0..<10_000), into: &sink) == 10_000)
        #expect(decoder.missingBytes == bytes.count - 10_000)
        decoder.fillPayload { $0 += bytes[10_000..<30_000] }
        #expect(decoder.missingBytes == bytes.count - 30_000)
        decoder.fillPayload { $0 += bytes[30_000...] }
        #expect(try decoder.missingBytes == 0 && sink.frames().isEmpty)
        #expect(try decoder.decode([UInt8]().span, into: &sink) == 0)
        #expect(try sink.frames() == [.message(payload)])
    }

    @Test("a payload that arrives in pieces is stored after the bytes that the sink lends")
    func stored() throws {
        struct Chain: FrameSink {
            var frameLimit: Int { Limits.frame }
            var wantsFrames: Bool { true }
            var bytes: [UInt8] = []
            var starts: [Int] = []

            mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
                bytes.append(copying: payload)
            }
            mutating func storage(for header: FrameHeader) -> [UInt8] {
                defer { bytes = [] }
                return bytes
            }
            mutating func receive(_ header: FrameHeader, stored bytes: consuming [UInt8], after start: Int) {
                self.bytes = bytes
                starts.append(start)
            }
        }
        let parts = (0..<3).map { [UInt8](repeating: $0, count: 2_000) }
        let bytes = Samples.bytes(parts.map { Frame.messagePart($0) })
        var decoder = FrameDecoder()
        var sink = Chain()
        // The first part arrives whole, the others in pieces.
        for range in [0..<2_500, 2_500..<3_000, 3_000..<5_000, 5_000..<bytes.count] {
            #expect(try decoder.decode(bytes.span.extracting(range), into: &sink) == range.count)
        }
        #expect(sink.bytes == parts.flatMap(\.self) && sink.starts == [2_000, 4_000])
    }

    @Test("all frames come out when bytes arrive one by one")
    func singleBytes() throws {
        let bytes = Samples.bytes(Samples.frames)
        var decoder = FrameDecoder()
        var sink = Collector()
        for index in bytes.indices {
            #expect(try decoder.decode(bytes.span.extracting(index..<(index + 1)), into: &sink) == 1)
        }
        #expect(try sink.frames() == Samples.frames)
    }

    @Test("random frames split at random places come out as they went in", arguments: UInt64(0)..<40)
    func random(seed: UInt64) throws {
        var random = Seeded(seed)
        let stream = RandomStream(&random)
        var decoder = FrameDecoder()
        var sink = Collector()
        var offset = 0
        while offset < stream.bytes.count {
            let wide = Int.random(in: 0..<4, using: &random) == 0
            let step = Int.random(in: 0...(wide ? 20_000 : 30), using: &random)
            let end = min(stream.bytes.count, offset + step)
            sink.appetite = Int.random(in: 1...5, using: &random)
            offset += try decoder.decode(stream.bytes.span.extracting(offset..<end), into: &sink)
        }
        #expect(sink.pieces == stream.pieces)
        #expect(decoder.ignoredFrames == stream.ignored)
    }

    /// 200 frames, some of them to be ignored.
    struct RandomStream {
        var pieces: [Collector.Piece] = []
        var ignored = 0
        var bytes: [UInt8] = []

        init(_ random: inout Seeded) {
            var buffer = ByteBuffer()
            for _ in 0..<200 {
                let longest = Bool.random(using: &random) ? 40 : 3_000
                let payload = random.bytes(Int.random(in: 0...longest, using: &random))
                let channel = UInt32.random(in: 1...9, using: &random)
                if Int.random(in: 0..<8, using: &random) == 0 {
                    buffer.appendFrame(
                        Grease.frameKind(random.next()), channel: channel, payload: payload.span)
                    ignored += 1
                } else {
                    buffer.appendFrame(.data, channel: channel, payload: payload.span)
                    let header = FrameHeader(.data, channel: channel, length: payload.count)
                    pieces.append(Collector.Piece(header: header, payload: payload))
                }
            }
            bytes = buffer.takeAll()
        }
    }

    @Test("random bytes end in an error or in frames, never in a crash", arguments: UInt64(0)..<200)
    func noise(seed: UInt64) {
        var random = Seeded(seed)
        var sink = Collector()
        for kind in UInt8.min ... .max {
            var decoder = FrameDecoder()
            let payload = random.bytes(Int.random(in: 0...300, using: &random))
            let bytes = Samples.raw(kind, channel: UInt32.random(in: 0...1, using: &random), payload)
            _ = try? decoder.decode((bytes + random.bytes(20)).span, into: &sink)
        }
        for piece in sink.pieces { _ = try? Frame(piece.header, piece.payload.span) }
    }

    @Test("100,000 frames in one piece come out in order, and are not joined")
    func many() throws {
        var buffer = ByteBuffer()
        for index in 0..<100_000 { Frame.ping(UInt64(index)).encode(into: &buffer) }
        let bytes = buffer.takeAll()
        var decoder = FrameDecoder()
        var sink = Collector()
        #expect(try decoder.decode(bytes.span, into: &sink) == 1_600_000)
        #expect(sink.joined == 0)
        #expect(try sink.frames() == (0..<100_000).map { .ping(UInt64($0)) })
    }

    @Test("a sink that accepts no more frames leaves the bytes after them [close.after]")
    func pause() throws {
        let bytes = Samples.bytes([.ping(1), .close(.goodbye, reason: ""), .ping(2), .ping(3)])
        var decoder = FrameDecoder()
        var sink = Collector()
        sink.appetite = 2
        #expect(try decoder.decode(bytes.span, into: &sink) == 26)
        #expect(try decoder.decode(bytes.span.extracting(26..<bytes.count), into: &sink) == 0)
        sink.appetite = 1
        #expect(try decoder.decode(bytes.span.extracting(26..<bytes.count), into: &sink) == 16)
        #expect(try sink.frames() == [.ping(1), .close(.goodbye, reason: ""), .ping(2)])
    }
}
