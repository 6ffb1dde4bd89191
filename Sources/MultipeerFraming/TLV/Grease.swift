/// Values without meaning, sent so that no receiver comes to rely on their absence. Spec 17.
///
/// The random number comes from the caller; the same number gives the same value.
package enum Grease {
    /// Returns a field type of 0x0A0A, 0x1A1A … 0x7A7A: not critical, so every receiver must ignore it.
    package static func fieldType(_ random: UInt64) -> UInt16 { value(nibble: random & 0x7) }

    /// Returns a version of 0x0A0A, 0x1A1A … 0xFAFA. [ext.grease]
    package static func version(_ random: UInt64) -> UInt16 { value(nibble: random & 0xF) }

    /// Returns a kind of 0x8A, 0x9A … 0xFA. [frame.grease]
    package static func frameKind(_ random: UInt64) -> FrameKind {
        FrameKind(rawValue: 0x8A | UInt8(truncatingIfNeeded: random & 0x7) << 4)
    }

    /// Returns whether a field type or a version is one of these, so that no two ends agree on one by chance.
    package static func contains(_ value: UInt16) -> Bool {
        value & 0x0F0F == 0x0A0A && value >> 8 == value & 0xFF
    }

    private static func value(nibble: UInt64) -> UInt16 {
        (0x0A | UInt16(truncatingIfNeeded: nibble) << 4) * 0x0101
    }
}

extension ByteBuffer {
    /// Appends a GREASE field with up to 7 bytes of the same number as its value, after the fields of version
    /// 1.
    package mutating func appendGrease(_ random: UInt64) {
        let count = Int(truncatingIfNeeded: random >> 3 & 0x7)
        appendField(Grease.fieldType(random), length: count)
        for index in 0..<count { append(UInt8(truncatingIfNeeded: random >> UInt64(8 + 8 * index))) }
    }
}
