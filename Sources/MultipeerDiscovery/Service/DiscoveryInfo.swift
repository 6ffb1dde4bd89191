/// What an advertiser publishes to browsers: a few short texts under keys. Spec 12.2.
///
/// Every host on the network can read it, and it is not authenticated.
public struct DiscoveryInfo: Hashable, Sendable {
    /// The texts by their keys.
    public let entries: [String: String]
    /// The number of the advertiser's code, which is announced with the texts. [code.number]
    package var codeNumber: Int?

    /// Empty discovery info.
    public static let empty = DiscoveryInfo(unchecked: [:])

    /// Validates the keys and the sizes; see the public initialiser.
    package init(validating entries: [String: String]) throws(InvalidDiscoveryInfo) {  // [service.info]
        var seen: [String: String] = [:]
        var total = 0
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            guard DiscoveryInfo.isKey(Array(key.utf8)) else { throw .key(key) }
            let folded = key.lowercased()
            guard !Binding.ownKeys.contains(folded) else { throw .reservedKey(key) }
            if let other = seen.updateValue(key, forKey: folded) { throw .repeatedKey(other, key) }
            let count = key.utf8.count + 1 + value.utf8.count
            guard count <= 255 else { throw .entryLength(key: key, count) }
            total += 1 + count
        }
        guard total <= DiscoveryInfo.longest else { throw .length(total) }
        self.init(unchecked: entries)
    }

    private init(unchecked entries: [String: String]) { self.entries = entries }

    /// The maximum size of all entries in the TXT record, in bytes.
    package static let longest = 1_222

    /// Returns whether `bytes` are 1 to 64 printable ASCII characters without `=`.
    static func isKey(_ bytes: [UInt8]) -> Bool {
        (1...64).contains(bytes.count)
            && bytes.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
    }
}
