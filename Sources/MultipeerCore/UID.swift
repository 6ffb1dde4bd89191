/// The value that `PeerID` compares: 16 bytes, generated once for each peer, ordered as unsigned bytes. Spec 3.1.
///
/// It is *random*, or *keyed*: a hash of the peer's key. Only a keyed one proves anything: a peer that presents it has the key.
public struct UID: Hashable, Comparable, Sendable {
    /// The size of a uid in bytes.
    public static let byteCount = 16

    @usableFromInline package let high: UInt64
    @usableFromInline package let low: UInt64

    @inlinable
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 16 zero bytes: the peer at an address, whichever that is. [invite.address]
    package static let unspecified = UID(high: 0, low: 0)

    /// Returns nil unless there are exactly 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == UID.byteCount else { return nil }
        self.init(high: UID.integer(bytes, from: 0), low: UID.integer(bytes, from: 8))
    }

    /// The 16 bytes, in the order in which they are sent.
    public var bytes: [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - 8 * ($0 % 8))) }
    }

    /// Whether it is a hash of the peer's key: a UUID of version 8. Every other form counts as random.
    public var isKeyed: Bool { high >> 12 & 0xF == 8 && low >> 62 == 0b10 }  // [uid.keyed]

    /// Returns the keyed uid with 122 bits of `digest`, the rest of which must be ignored; nil for fewer than 16 bytes.
    package static func keyed(_ digest: [UInt8]) -> UID? { UID(Array(digest.prefix(byteCount)))?.version(8) }

    /// Creates a random uid, a UUID of version 4, from 16 random bytes as two numbers.
    package init(random high: UInt64, _ low: UInt64) { self = UID(high: high, low: low).version(4) }

    /// Returns the UUID of this version that has the other 122 bits. RFC 9562, section 4.
    private func version(_ number: UInt64) -> UID {  // [uid.keyed]
        UID(high: high & ~(0xF << 12) | number << 12, low: low & ~(0b11 << 62) | 0b10 << 62)
    }

    /// This uid, or the random one next to it, if it is keyed.
    package var asRandom: UID { isKeyed ? version(4) : self }

    /// Compares as unsigned bytes, starting with the first.
    public static func < (one: UID, other: UID) -> Bool {
        (one.high, one.low) < (other.high, other.low)
    }

    private static func integer(_ bytes: [UInt8], from start: Int) -> UInt64 {
        bytes[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
