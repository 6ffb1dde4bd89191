/// What a frame is: the fourth byte of its header. Spec 7.2.
package struct FrameKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let hello = FrameKind(rawValue: 0x01)
    package static let confirm = FrameKind(rawValue: 0x02)
    package static let select = FrameKind(rawValue: 0x03)
    package static let selected = FrameKind(rawValue: 0x04)
    package static let close = FrameKind(rawValue: 0x05)
    package static let ping = FrameKind(rawValue: 0x06)
    package static let pong = FrameKind(rawValue: 0x07)
    package static let members = FrameKind(rawValue: 0x08)
    package static let datagram = FrameKind(rawValue: 0x09)
    package static let message = FrameKind(rawValue: 0x10)
    package static let messagePart = FrameKind(rawValue: 0x11)
    package static let open = FrameKind(rawValue: 0x20)
    package static let data = FrameKind(rawValue: 0x21)
    package static let fin = FrameKind(rawValue: 0x22)
    package static let reset = FrameKind(rawValue: 0x23)
    package static let stop = FrameKind(rawValue: 0x24)
    package static let credit = FrameKind(rawValue: 0x25)
    package static let done = FrameKind(rawValue: 0x26)
    package static let codeRequest = FrameKind(rawValue: 0x30)
    package static let codeCommit = FrameKind(rawValue: 0x31)
    package static let codeNonce = FrameKind(rawValue: 0x32)
    package static let codeReveal = FrameKind(rawValue: 0x33)
    package static let invite = FrameKind(rawValue: 0x40)
    package static let answer = FrameKind(rawValue: 0x41)
    package static let complete = FrameKind(rawValue: 0x42)

    /// Kinds from 0x80 on may be ignored by a receiver that does not know them; the others may not. Spec 7.3.
    package var isIgnorable: Bool { rawValue >= 0x80 }
}

/// `length u24 | kind u8 | channel u32`, big-endian. Spec 7.1.
package struct FrameHeader: Hashable, Sendable {
    package static let byteCount = 8

    /// Bytes of payload behind the header.
    package let length: Int
    package let kind: FrameKind
    package let channel: UInt32

    package init(_ kind: FrameKind, channel: UInt32 = 0, length: Int) {
        self.kind = kind
        self.channel = channel
        self.length = length
    }
}

/// Takes whole frames out of a `FrameDecoder`.
package protocol FrameSink: ~Copyable {
    /// The longest payload that may come next, in bytes. Asked before every frame, so it may change with the phase.
    var frameLimit: Int { get }
    /// False pauses the decoder after the current frame: the bytes behind it stay with the caller.
    var wantsFrames: Bool { get }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>)
    /// The same for a frame that came in pieces and was joined: the bytes are the sink's to keep.
    mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8])
}

extension FrameSink where Self: ~Copyable {
    package mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8]) {
        receive(header, payload.span)
    }
}
