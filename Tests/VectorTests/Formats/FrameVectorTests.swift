import MultipeerFraming
import MultipeerSecurity
import TestSupport
import Testing

struct FrameStream: VectorBody {
    static let type = "frames"
    let phase: String
    let hex: Hex
    let append: Filling?
    let splits: [Int]?
    let frames: [Expected]
    let skipped: Int
    let pending: Int

    struct Filling: Decodable {
        let fill: Hex
        let length: Int
    }

    struct Expected: Decodable {
        let kind: UInt8
        let channel: UInt32
        let length: Int
        let payloadHex: Hex?
        let payloadSha256: Hex?
    }
}

@Suite("7 Vectors of frames", .computing)
struct FrameVectorTests {
    @Test(
        "bytes in any pieces give the same frames, up to the first refused one [frame.header] [frame.unknown]",
        arguments: try VectorFiles.all(FrameStream.self))
    func frames(_ vector: Vector<FrameStream>) throws {
        let body = vector.body
        let tail = body.append.map { [UInt8](repeating: $0.fill.bytes[0], count: $0.length) } ?? []
        let bytes = body.hex.bytes + tail
        let order: FrameContext = body.phase == "open" ? .open : .beforeSelected
        for cuts in [[], body.splits ?? []] {
            var sink = Reader(order: order)
            var decoder = FrameDecoder()
            var start = 0
            do throws(FramingError) {
                for end in cuts + [bytes.count] where sink.wantsFrames {
                    _ = try decoder.decode(bytes.span.extracting(start..<end), into: &sink)
                    start = end
                }
            } catch {
                sink.error = error
            }
            #expect(sink.error.map { Fault(Self.check($0), $0.closeCode.name) } == vector.fault)
            #expect(decoder.ignoredFrames == body.skipped)
            compare(sink.frames, body.frames)
        }
        guard body.pending > 0 else { return }
        // They begin a frame: what is whole is whole without them.
        var sink = Reader(order: order)
        var decoder = FrameDecoder()
        _ = try decoder.decode(bytes.span.extracting(droppingLast: body.pending), into: &sink)
        compare(sink.frames, body.frames)
        #expect(decoder.ignoredFrames == body.skipped)
    }

    private func compare(
        _ frames: [(header: FrameHeader, payload: [UInt8])], _ expected: [FrameStream.Expected]
    ) {
        #expect(frames.count == expected.count)
        for (frame, expected) in zip(frames, expected) {
            #expect(frame.header.kind.rawValue == expected.kind)
            #expect(frame.header.channel == expected.channel)
            #expect(frame.payload.count == expected.length)
            if let hex = expected.payloadHex { #expect(Hex(frame.payload) == hex) }
            if let digest = expected.payloadSha256 { #expect(Hex(SHA256.hash(frame.payload)) == digest) }
        }
    }

    private static func check(_ error: FramingError) -> String {
        switch error {
        case .frameTooLong: "length"
        case .unknownKind: "kind"
        case .unexpectedKind: "phase"
        case .wrongChannel: "channel"
        default: "payload"
        }
    }

    /// Takes frames as a link would, as far as their form goes.
    private struct Reader: FrameSink {
        let order: FrameContext
        var frames: [(header: FrameHeader, payload: [UInt8])] = []
        var error: FramingError?
        var isClosed = false

        var frameContext: FrameContext? { order }
        var frameLimit: Int { order == .open ? Limits.frame : Limits.frameBeforeSelect }
        var wantsFrames: Bool { !isClosed && error == nil }

        mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
            do throws(FramingError) {
                // HELLO has vectors of its own; the one among these is only as long as it may be.
                if header.kind != .hello { _ = try Frame(header, payload) }
                frames.append((header, [UInt8](copying: payload)))
                isClosed = header.kind == .close
            } catch {
                self.error = error
            }
        }
    }
}
