/// What becomes of the received part of a file when its transfer breaks.
///
/// The part stays in the directory, private, under a name that ends in `.multipeer-part`. When the same peer sends a file of the same
/// name and size again, also between new sessions and after both processes have ended, the transfer goes on after it, if the file
/// still begins with it; the digest of the whole file is checked as always. A part is removed when its file is complete, when either
/// side cancels, when it is damaged, and when it is older than `lifetime`; a directory keeps at most 32 of them, and 16 GiB.
///
/// The same peer is one with the same id and the same key. A session makes a key of its own unless its configuration has an
/// `identity`: without one, only transfers of that session go on, and none over a link that is not encrypted.
public struct Resumption: Sendable, Hashable {
    /// How long a part is kept after its last byte was received.
    public var lifetime: Duration
    /// What distinguishes files of the same name and size from one peer.
    package var key: [UInt8] = []

    /// Smaller files are sent again: asking would take about as long.
    package static let smallestFile: UInt64 = 1_048_576

    /// Creates the rule; a part is kept for 7 days by default.
    public init(lifetime: Duration = .seconds(7 * 86_400)) { self.lifetime = lifetime }

    /// Keeps parts for 7 days.
    public static let standard = Resumption()
}
