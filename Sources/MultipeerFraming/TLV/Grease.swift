/// Values that mean nothing and are sent so that no receiver gets used to their absence. Spec 17.
///
/// The random number comes from the caller; the same number gives the same value.
package enum Grease {
    /// A field type of 0x0A0A, 0x1A1A … 0x7A7A: not critical, so every receiver must ignore it.
    package static func fieldType(_ random: UInt64) -> UInt16 { value(nibble: random & 0x7) }

    /// A version of 0x0A0A, 0x1A1A … 0xFAFA. [ext.grease]
    package static func version(_ random: UInt64) -> UInt16 { value(nibble: random & 0xF) }

    /// A kind of 0x8A, 0x9A … 0xFA. [frame.grease]
    package static func frameKind(_ random: UInt64) -> FrameKind {
        FrameKind(rawValue: 0x8A | UInt8(truncatingIfNeeded: random & 0x7) << 4)
    }

    /// Whether a field type or a version is one of these, so that nobody agrees on it by chance.
    package static func contains(_ value: UInt16) -> Bool {
        value & 0x0F0F == 0x0A0A && value >> 8 == value & 0xFF
    }

    private static func value(nibble: UInt64) -> UInt16 {
        (0x0A | UInt16(truncatingIfNeeded: nibble) << 4) * 0x0101
    }
}

extension ByteBuffer {
    /// A grease field with up to 7 bytes of the same number as its value. It goes behind the fields of
    /// version 1.
    package mutating func appendGrease(_ random: UInt64) {
        let count = Int(truncatingIfNeeded: random >> 3 & 0x7)
        appendField(Grease.fieldType(random), length: count)
        for index in 0..<count { append(UInt8(truncatingIfNeeded: random >> UInt64(8 + 8 * index))) }
    }
}
