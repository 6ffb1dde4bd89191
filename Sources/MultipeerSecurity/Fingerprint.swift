/// The SHA-256 digest of a certificate's DER bytes: what one peer pins of another. Spec 5.3.
public struct Fingerprint: Hashable, Sendable {
    public static let byteCount = 32

    /// The 32 bytes of the digest, in the order in which they travel.
    public let bytes: [UInt8]

    /// Answers nil unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits, with or without colons between the pairs.
    public init?(hex: String) {
        let text = Array(hex.utf8)
        let colon = UInt8(ascii: ":")
        guard text.count == 64 || text.count == 95 else { return nil }
        let step = text.count == 64 ? 2 : 3
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: step) {
            if start > 0, step == 3, text[start - 1] != colon { return nil }
            guard let high = Self.digit(text[start]), let low = Self.digit(text[start + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self.init(bytes)
    }

    /// The fingerprint of the certificate with these DER bytes.
    init(ofDER der: [UInt8]) { bytes = SHA256.hash(der) }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Fingerprint: CustomStringConvertible {
    /// Pairs of upper-case hexadecimal digits with colons between them, as other tools print it.
    public var description: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            if !text.isEmpty { text.append(UInt8(ascii: ":")) }
            text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
