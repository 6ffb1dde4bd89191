/// What a frame is: the fourth byte of its header. Spec 7.2.
package struct FrameKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

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

}

extension FrameKind {
    /// Kinds from 0x80 on may be ignored by a receiver that does not know them; the others may not. Spec 7.3.
    @inlinable package var isIgnorable: Bool { rawValue >= 0x80 }

    /// Whether version 1 defines the kind. The kinds 0x50 to 0x5F, kept for relays, it does not.
    @inlinable package var isKnown: Bool {
        switch rawValue {
        case 0x01...0x09, 0x10...0x11, 0x20...0x26, 0x30...0x33, 0x40...0x42: true
        default: false
        }
    }

    /// Whether a frame of this kind may come on `channel`; never for a kind below 0x80 that is not known.
    @inlinable
    package func mayTravel(on channel: UInt32) -> Bool {  // [frame.channel-zero]
        switch rawValue {
        case 0x01...0x09, 0x10...0x11, 0x30...0x33, 0x40...0x42: channel == 0
        case 0x20...0x24, 0x26: channel != 0
        case 0x25, 0x80...: true
        default: false  // [frame.unknown]
        }
    }

    /// Whether a payload of `length` bytes can be right, for the kinds whose header alone tells.
    @inlinable
    package func admits(_ length: Int) -> Bool {  // [frame.payload]
        switch rawValue {
        case 0x10, 0x11, 0x21: true
        case 0x03, 0x04, 0x30: length == 0
        case 0x23, 0x24, 0x26: length == 2
        case 0x06, 0x07, 0x25: length == 8
        case 0x09: length == 11
        case 0x02, 0x31...0x33: length == 32
        case 0x05: length >= 2 && length <= 2 &+ Limits.closeReason  // [close.reason]
        default: true
        }
    }
}
