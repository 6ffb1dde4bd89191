import MultipeerFraming

/// The ranges of the frames in bytes that an end writes. The payload of the last may be cut off.
struct FrameRanges: Sequence, IteratorProtocol {
    struct FrameRange {
        let header: FrameHeader
        let whole: Range<Int>
        let payload: Range<Int>
        /// Whether its payload is complete.
        let isWhole: Bool
    }

    private let bytes: [UInt8]
    private var offset = 0

    init(in bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> FrameRange? {
        let payload = offset + FrameHeader.byteCount
        guard payload <= bytes.count else { return nil }
        let header = FrameHeader(bytes.span.extracting(offset..<payload))
        let isWhole = header.length <= bytes.count - payload
        let end = isWhole ? payload + header.length : bytes.count
        defer { offset = end }
        return FrameRange(header: header, whole: offset..<end, payload: payload..<end, isWhole: isWhole)
    }
}
