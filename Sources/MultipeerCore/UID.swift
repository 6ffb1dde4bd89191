/// The value that `PeerID` compares: 16 random bytes, generated once for each peer, ordered as unsigned
/// bytes. Spec 3.1.
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

    /// Returns nil unless there are exactly 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == UID.byteCount else { return nil }
        self.init(high: UID.integer(bytes, from: 0), low: UID.integer(bytes, from: 8))
    }

    /// The 16 bytes, in the order in which they are sent.
    public var bytes: [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - 8 * ($0 % 8))) }
    }

    /// Compares as unsigned bytes, starting with the first.
    public static func < (one: UID, other: UID) -> Bool {
        (one.high, one.low) < (other.high, other.low)
    }

    private static func integer(_ bytes: [UInt8], from start: Int) -> UInt64 {
        bytes[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
