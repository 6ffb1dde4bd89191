/// `length u24 | kind u8 | channel u32`, big-endian. Spec 7.1.
@usableFromInline
package struct FrameHeader: Hashable, Sendable {
    @inlinable package static var byteCount: Int { 8 }

    /// The number of bytes of payload after the header.
    @usableFromInline package let length: Int
    @usableFromInline package let kind: FrameKind
    @usableFromInline package let channel: UInt32

    @inlinable
    package init(_ kind: FrameKind, channel: UInt32 = 0, length: Int) {
        self.kind = kind
        self.channel = channel
        self.length = length
    }
}

extension FrameHeader {
    /// Reads the header in `bytes`, of which there are 8.
    @inlinable
    package init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == FrameHeader.byteCount, "a header has 8 bytes")
        self.init(bits: FrameHeader.bits(bytes, after: 0))
    }

    /// Reads a header given as one big-endian number. [frame.header]
    @inlinable
    package init(bits: UInt64) {
        self.init(
            FrameKind(rawValue: UInt8(truncatingIfNeeded: bits >> 32)),
            channel: UInt32(truncatingIfNeeded: bits),
            length: Int(truncatingIfNeeded: bits >> 40))
    }

    /// The header as one big-endian number. The length has 24 bits.
    @inlinable
    package var bits: UInt64 {
        precondition(length >= 0 && length <= 0xFF_FFFF, "a frame's length has 24 bits")
        return UInt64(truncatingIfNeeded: length) << 40 | UInt64(kind.rawValue) << 32 | UInt64(channel)
    }

    @inlinable
    static func bits(_ bytes: Span<UInt8>, after start: UInt64) -> UInt64 {
        var bits = start
        for index in bytes.indices { bits = bits << 8 | UInt64(bytes[index]) }  // [int.big-endian]
        return bits
    }
}
