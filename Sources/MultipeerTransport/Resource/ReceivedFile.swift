/// A file that has arrived whole. It is the application's from here on: to move, or to remove.
public struct ReceivedFile: Sendable, Hashable {
    /// Where it is, under a random name.
    public let path: String
    /// What the sender calls it: a label for people, never a path. It may hold anything, `../` and escapes too.
    public let name: String
    /// How many bytes it has.
    public let size: UInt64
    /// The SHA-256 of its bytes.
    public let digest: [UInt8]
    /// Whether the sender promised this digest; without that, only the size was checked, if even that was promised.
    public let isVerified: Bool
}
