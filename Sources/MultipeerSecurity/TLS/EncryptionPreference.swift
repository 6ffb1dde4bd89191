/// What a session requires of its links. The raw values are sent in connection data. Spec 5.1.
public enum EncryptionPreference: UInt8, Sendable, Hashable, CaseIterable {
    /// Encrypted, unless the other side never encrypts.
    case optional = 0
    /// Encrypted, or no link at all.
    case required = 1
    /// Never encrypted.
    case none = 2
}

extension EncryptionPreference: CustomStringConvertible {
    /// Reads "none", "optional" or "required"; anything else returns nil.
    public init?(name: String) {
        guard let match = Self.allCases.first(where: { $0.description == name }) else { return nil }
        self = match
    }

    /// "none", "optional" or "required".
    public var description: String {
        switch self {
        case .optional: "optional"
        case .required: "required"
        case .none: "none"
        }
    }
}
