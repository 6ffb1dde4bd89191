/// The kind of a frame: the fourth byte of its header. Spec 7.2.
///
/// To add a frame: its kind here and in `Spec/registries.json`, its payload in `Frame`, its rules in `Spec/07-frames.md`, and
/// its handling where `Link+Receiving.swift` or `Handshake.swift` switches over kinds.
@usableFromInline
package struct FrameKind: RawRepresentable, Hashable, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static func == (one: FrameKind, other: FrameKind) -> Bool {
        one.rawValue == other.rawValue
    }

    @inlinable package static var hello: FrameKind { FrameKind(rawValue: 0x01) }
    @inlinable package static var confirm: FrameKind { FrameKind(rawValue: 0x02) }
    @inlinable package static var select: FrameKind { FrameKind(rawValue: 0x03) }
    @inlinable package static var selected: FrameKind { FrameKind(rawValue: 0x04) }
    @inlinable package static var close: FrameKind { FrameKind(rawValue: 0x05) }
    @inlinable package static var ping: FrameKind { FrameKind(rawValue: 0x06) }
    @inlinable package static var pong: FrameKind { FrameKind(rawValue: 0x07) }
    @inlinable package static var members: FrameKind { FrameKind(rawValue: 0x08) }
    @inlinable package static var datagram: FrameKind { FrameKind(rawValue: 0x09) }
    @inlinable package static var message: FrameKind { FrameKind(rawValue: 0x10) }
    @inlinable package static var messagePart: FrameKind { FrameKind(rawValue: 0x11) }
    @inlinable package static var open: FrameKind { FrameKind(rawValue: 0x20) }
    @inlinable package static var data: FrameKind { FrameKind(rawValue: 0x21) }
    @inlinable package static var fin: FrameKind { FrameKind(rawValue: 0x22) }
    @inlinable package static var reset: FrameKind { FrameKind(rawValue: 0x23) }
    @inlinable package static var stop: FrameKind { FrameKind(rawValue: 0x24) }
    @inlinable package static var credit: FrameKind { FrameKind(rawValue: 0x25) }
    @inlinable package static var done: FrameKind { FrameKind(rawValue: 0x26) }
    @inlinable package static var resume: FrameKind { FrameKind(rawValue: 0x27) }
    @inlinable package static var begin: FrameKind { FrameKind(rawValue: 0x28) }
    @inlinable package static var codeRequest: FrameKind { FrameKind(rawValue: 0x30) }
    @inlinable package static var codeCommit: FrameKind { FrameKind(rawValue: 0x31) }
    @inlinable package static var codeNonce: FrameKind { FrameKind(rawValue: 0x32) }
    @inlinable package static var codeReveal: FrameKind { FrameKind(rawValue: 0x33) }
    @inlinable package static var codeResult: FrameKind { FrameKind(rawValue: 0x34) }
    @inlinable package static var invite: FrameKind { FrameKind(rawValue: 0x40) }
    @inlinable package static var answer: FrameKind { FrameKind(rawValue: 0x41) }
    @inlinable package static var complete: FrameKind { FrameKind(rawValue: 0x42) }
    @inlinable package static var share: FrameKind { FrameKind(rawValue: 0x43) }
    @inlinable package static var confirmation: FrameKind { FrameKind(rawValue: 0x44) }
}

extension FrameKind {
    /// Whether a receiver that does not know the kind may ignore it: true for kinds of 0x80 and above. Spec 7.3.
    @inlinable package var isIgnorable: Bool { rawValue >= 0x80 }

    /// Whether version 1 defines the kind. The kinds 0x50 to 0x5F, reserved for relays, are not defined.
    @inlinable package var isKnown: Bool {  // [ext.reserved]
        switch rawValue {
        case 0x01...0x09, 0x10...0x11, 0x20...0x28, 0x30...0x34, 0x40...0x44: true
        default: false
        }
    }

    /// Returns whether a frame of this kind is allowed on `channel`; false for an unknown kind below 0x80.
    @inlinable
    package func mayTravel(on channel: UInt32) -> Bool {  // [frame.channel-zero]
        switch rawValue {
        case 0x01...0x09, 0x10...0x11, 0x30...0x34, 0x40...0x44: channel == 0
        case 0x20...0x24, 0x26...0x28: channel != 0
        case 0x25, 0x80...: true
        default: false  // [frame.unknown]
        }
    }

    /// Returns whether a payload of `length` bytes can be valid, for the kinds where the header alone decides.
    @inlinable
    package func admits(_ length: Int) -> Bool {  // [frame.payload]
        switch rawValue {
        case 0x10, 0x11, 0x21: true
        case 0x03, 0x04, 0x30: length == 0
        case 0x23, 0x24, 0x26, 0x34: length == 2
        case 0x06, 0x07, 0x25, 0x28: length == 8
        case 0x09: length == 11
        case 0x02, 0x31...0x33, 0x44: length == 32
        case 0x27: length == 40
        case 0x43: length == 67
        case 0x05: length >= 2 && length <= 2 &+ Limits.closeReason  // [close.reason]
        default: true
        }
    }
}
