/// The SHA-256 digest of a certificate's DER bytes: the value by which one peer pins another. Spec 5.3.
public struct Fingerprint: Hashable, Sendable {
    /// The length of a fingerprint.
    public static let byteCount = 32

    /// The 32 bytes of the digest, in the order in which they are sent.
    public let bytes: [UInt8]

    /// Returns nil unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits, either with colons between all pairs or without any.
    public init?(hex: String) {
        let text = Array(hex.utf8)
        let colon = UInt8(ascii: ":")
        guard text.count == 95 else {
            guard text.count == 64, let bytes = Hex.decode(text) else { return nil }
            self.init(bytes)
            return
        }
        let places = stride(from: 2, to: 95, by: 3)
        guard places.allSatisfy({ text[$0] == colon }), let bytes = Hex.decode(text.filter { $0 != colon })
        else { return nil }
        self.init(bytes)
    }

    /// Computes the fingerprint of the certificate with these DER bytes.
    init(ofDER der: [UInt8]) { bytes = SHA256.hash(der) }
}

extension Fingerprint: CustomStringConvertible {
    /// Pairs of upper-case hexadecimal digits separated by colons, as other tools print it.
    public var description: String { Hex.encode(bytes, separator: ":", uppercase: true) }

    /// The first 16 digits in groups of four, for a line that shows two fingerprints to a person.
    public var short: String {
        stride(from: 0, to: 8, by: 2).map { Hex.encode(Array(bytes[$0..<$0 + 2])) }.joined(separator: " ")
    }
}
