/// A domain name: labels of 1 to 63 bytes, at most 255 with their length bytes. RFC 1035, 3.1; Spec 12.3.
///
/// Compared, hashed and ordered ignoring the case of ASCII letters, which is preserved. A label may contain any bytes:
/// a dot or a space has no special meaning.
package struct DNSName: Hashable, Comparable, Sendable {
    /// Every label preceded by its length, and a zero byte: the form of an uncompressed name in a message.
    package let wire: [UInt8]
    /// The hash of the bytes in lower case: names are looked up and compared far more often than they are read.
    private let digest: Int

    /// The name that has no labels.
    package static let root = DNSName(wire: [0])

    /// Throws when a label is empty or longer than 63 bytes, or the name longer than 255.
    package init(_ labels: [[UInt8]]) throws(DNSFault) {
        var wire: [UInt8] = []
        for label in labels {
            guard (1...DNSName.longestLabel).contains(label.count) else { throw .labelLength(label.count) }
            wire.append(UInt8(truncatingIfNeeded: label.count))
            wire += label
            guard wire.count < DNSName.longest else { throw .nameLength }
        }
        self.init(wire: wire + [0])
    }

    /// Creates a name whose form the caller has already checked.
    init(wire: [UInt8]) {
        self.wire = wire
        digest = DNSName.digest(of: wire)
    }

    package static let longest = 255
    package static let longestLabel = 63

    /// The size in an uncompressed message.
    package var encodedCount: Int { wire.count }

    package var isRoot: Bool { wire.count == 1 }

    package var labels: [[UInt8]] {
        var labels: [[UInt8]] = []
        var rest = wire[...]
        while let count = rest.popFirst(), count > 0 {
            labels.append(Array(rest.prefix(Int(count))))
            rest = rest.dropFirst(Int(count))
        }
        return labels
    }

    package var firstLabel: [UInt8]? { wire[0] == 0 ? nil : Array(wire.dropFirst().prefix(Int(wire[0]))) }

    /// The name without its first label; nil for the root.
    package var parent: DNSName? {
        isRoot ? nil : DNSName(wire: Array(wire.dropFirst(1 + Int(wire[0]))))
    }

    /// Returns this name with a new first label in front.
    package func child(_ label: [UInt8]) throws(DNSFault) -> DNSName {
        guard (1...DNSName.longestLabel).contains(label.count) else { throw .labelLength(label.count) }
        guard 1 + label.count + wire.count <= DNSName.longest else { throw .nameLength }
        return DNSName(wire: [UInt8(truncatingIfNeeded: label.count)] + label + wire)
    }

    package static func == (one: DNSName, other: DNSName) -> Bool {  // [dns.name]
        guard one.digest == other.digest, one.wire.count == other.wire.count else { return false }
        return one.wire == other.wire || zip(one.wire, other.wire).allSatisfy { folded($0) == folded($1) }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// Computes the hash, eight bytes at a time. Seeded per process, so that other hosts cannot construct collisions.
    private static func digest(of wire: [UInt8]) -> Int {
        var hasher = Hasher()
        var word: UInt64 = 0
        for index in wire.indices {
            word = word << 8 | UInt64(folded(wire[index]))
            if index & 7 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
        return hasher.finalize()
    }

    package static func < (one: DNSName, other: DNSName) -> Bool {
        one.wire.lazy.map(folded).lexicographicallyPrecedes(other.wire.lazy.map(folded))
    }

    private static func areEqual(_ one: some Sequence<UInt8>, _ other: some Sequence<UInt8>) -> Bool {
        zip(one, other).allSatisfy { folded($0) == folded($1) }
    }

    /// Returns ASCII letters in lower case. Works on length bytes as well: 63 is less than `A`.
    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
