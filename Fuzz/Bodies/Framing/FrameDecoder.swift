import MultipeerFraming

extension FuzzBody {
    /// One byte says whether the sink pauses after each frame, one how many piece sizes follow; the rest is the stream.
    package static let frameDecoder = FuzzBody("frame-decoder") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let pauses = input.byte() & 1 == 1
        let sizes = input.bytes(Int(input.byte() % 16)).map { Int($0) + 1 }
        let stream = input.rest()

        let whole = try Decoding(stream, in: [], pausing: false)
        let pieces = try Decoding(stream, in: sizes, pausing: pauses)
        try promise(whole.frames == pieces.frames, "the pieces do not change the frames")
        try promise(whole.fault == pieces.fault, "the pieces do not change the fault")
        try promise(whole.ignored == pieces.ignored, "the pieces do not change what is ignored")

        let plain = PlainReading(stream)
        try promise(
            whole.frames.map(\.encoded) == plain.frames,
            "frames are written to the bytes that they were read from")
        try promise(
            (whole.fault != nil) == plain.isRefused, "a header is refused exactly when it is not allowed")
        try promise(whole.ignored == plain.ignored, "ignored frames are counted")
        for frame in whole.frames { try understand(frame) }
    }
}

/// Decodes the payload too; the result must survive being encoded and decoded once more.
private func understand(_ frame: Recorder.Frame) throws(BrokenPromise) {
    guard let meaning = try? Frame(frame.header, frame.payload.span) else { return }
    var buffer = ByteBuffer()
    meaning.encode(into: &buffer)
    let encoded = buffer.takeAll()
    let payload = Array(encoded.dropFirst(FrameHeader.byteCount))
    let header = FrameHeader(frame.header.kind, channel: frame.header.channel, length: payload.count)
    try promise(
        (try? Frame(header, payload.span)) == meaning, "a payload that was read can be written and read again"
    )
    // Unknown fields are not written again, so it may only become shorter.
    try promise(encoded.count <= frame.encoded.count, "a payload that is written again is not longer")
}

/// The output of one decoder.
private struct Decoding {
    private(set) var frames: [Recorder.Frame] = []
    private(set) var fault: FramingError?
    private(set) var ignored = 0

    /// Feeds the stream in pieces of these sizes, over and over; in one piece when there are none.
    init(_ stream: [UInt8], in sizes: [Int], pausing: Bool) throws(BrokenPromise) {
        var decoder = FrameDecoder()
        var sink = Recorder(pauses: pausing)
        var start = 0
        var turn = 0
        while start < stream.count, fault == nil {
            let size = sizes.isEmpty ? stream.count : sizes[turn % sizes.count]
            let end = min(start + size, stream.count)
            turn += 1
            while start < end, fault == nil {
                sink.wantsFrames = true
                do {
                    let used = try decoder.decode(stream.span.extracting(start..<end), into: &sink)
                    try promise(
                        used >= 0 && used <= end - start, "no more bytes are consumed than were given")
                    try promise(
                        used == end - start || !sink.wantsFrames,
                        "all bytes are consumed unless the sink pauses")
                    start += used
                } catch let error as FramingError {
                    fault = error
                } catch let error as BrokenPromise {
                    throw error
                } catch {}
            }
        }
        if let fault { try repeats(fault, &decoder, &sink) }
        frames = sink.frames
        ignored = decoder.ignoredFrames
    }

    private func repeats(
        _ fault: FramingError, _ decoder: inout FrameDecoder, _ sink: inout Recorder
    ) throws(BrokenPromise) {
        try promise(fault.closeCode == .protocolError, "a refused frame is a protocol error")
        sink.wantsFrames = true
        let before = sink.frames.count
        var again: FramingError?
        do { _ = try decoder.decode([0, 0, 0, 6, 0, 0, 0, 0].span, into: &sink) } catch { again = error }
        try promise(again == fault && sink.frames.count == before, "a fault is permanent")
    }
}

/// The stream parsed a second time, by simple code that follows the spec.
private struct PlainReading {
    /// Every frame that may not be ignored, with its header.
    private(set) var frames: [[UInt8]] = []
    private(set) var ignored = 0
    private(set) var isRefused = false

    init(_ stream: [UInt8]) {
        var rest = stream[...]
        var limit = Limits.frameBeforeSelect
        while rest.count >= 8, !isRefused {
            let head = Array(rest.prefix(8))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let isForLink = head[4...].allSatisfy { $0 == 0 }
            isRefused =
                length > limit || !Self.exists(head[3], forLink: isForLink)
                || !Self.sizes(head[3]).contains(length)
            if isRefused { return }
            if head[3] >= 0x80 {
                ignored += 1
            } else if rest.count >= 8 + length {
                frames.append(Array(rest.prefix(8 + length)))
            }
            if head[3] == 0x04, rest.count >= 8 + length { limit = Limits.frame }
            rest = rest.dropFirst(8 + length)
        }
    }

    private static func sizes(_ kind: UInt8) -> ClosedRange<Int> {
        switch kind {
        case 0x03, 0x04, 0x30: 0...0
        case 0x23, 0x24, 0x26, 0x34: 2...2
        case 0x05: 2...258
        case 0x06, 0x07, 0x25, 0x28: 8...8
        case 0x27: 40...40
        case 0x09: 11...11
        case 0x02, 0x31...0x33, 0x44: 32...32
        case 0x43: 67...67
        default: 0...Limits.frame
        }
    }

    private static func exists(_ kind: UInt8, forLink: Bool) -> Bool {
        switch kind {
        case 0x25, 0x80...: true
        case 0x01...0x09, 0x10...0x11, 0x30...0x34, 0x40...0x44: forLink
        case 0x20...0x24, 0x26...0x28: !forLink
        default: false
        }
    }
}

/// Keeps every frame, and takes longer ones after SELECTED.
private struct Recorder: FrameSink {
    struct Frame: Equatable {
        let header: FrameHeader
        let payload: [UInt8]

        var encoded: [UInt8] {
            var buffer = ByteBuffer()
            buffer.append(header.bits)
            buffer.append(payload)
            return buffer.takeAll()
        }
    }

    private(set) var frames: [Frame] = []
    private(set) var frameLimit = Limits.frameBeforeSelect
    var wantsFrames = true
    private let pauses: Bool

    init(pauses: Bool) { self.pauses = pauses }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        frames.append(Frame(header: header, payload: payload.indices.map { payload[$0] }))
        if header.kind == .selected { frameLimit = Limits.frame }
        if pauses { wantsFrames = false }
    }
}
