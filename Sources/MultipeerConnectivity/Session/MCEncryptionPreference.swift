/// Whether a session encrypts its connections.
///
/// A session with `.required` and one with `.none` do not connect; two others are encrypted unless one has `.none`.
public enum MCEncryptionPreference: Int, Sendable {
    /// Encrypted, unless the other side wants none. With a security identity it counts as `.required`.
    case optional = 0
    /// Encrypted, or not connected.
    case required = 1
    /// Never encrypted: anyone on the network can read and change what is sent. A security identity is not presented.
    case none = 2
}
