extension IncomingResource {
    /// A file that has arrived whole. From here on the application owns it, and moves or removes it.
    public struct File: Sendable, Hashable {
        /// Its path: under a random name, unless another was chosen.
        public let path: String
        /// The sender's name for it: a label for people, never a path. It may contain anything, including `../` and escapes.
        public let name: String
        /// The number of bytes.
        public let size: UInt64
        /// The SHA-256 of its bytes; nil when the sender announced that it would send none.
        public let digest: [UInt8]?
        /// Whether the sender promised this digest; without that, only the size was checked, if even that was promised.
        public let isVerified: Bool
    }
}
