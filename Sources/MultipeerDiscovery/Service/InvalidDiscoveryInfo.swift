/// Why a dictionary cannot be advertised.
package enum InvalidDiscoveryInfo: Error, Hashable, Sendable {
    /// This key is empty, longer than 64 characters, or contains anything but printable ASCII without `=`.
    case key(String)
    /// This key is reserved for the protocol.
    case reservedKey(String)
    /// These two keys differ only in case.
    case repeatedKey(String, String)
    /// The entry of this key has this many bytes, more than 255.
    case entryLength(key: String, Int)
    /// All entries together have this many bytes, more than 1,222.
    case length(Int)
}

extension InvalidDiscoveryInfo: CustomStringConvertible {
    /// A human-readable description, on one line.
    package var description: String {
        switch self {
        case .key(let key):
            "a key of the discovery info has 1 to 64 printable ASCII characters without '=': \(key.debugDescription)"
        case .reservedKey(let key): "the key \(key.debugDescription) of the discovery info is reserved"
        case .repeatedKey(let one, let other):
            "the keys \(one.debugDescription) and \(other.debugDescription) of the discovery info differ by case alone"
        case .entryLength(let key, let count):
            "the entry \(key.debugDescription) of the discovery info has \(count) bytes, at most 255 are allowed"
        case .length(let count):
            "the discovery info has \(count) bytes, at most 1,222 are allowed"
        }
    }
}
