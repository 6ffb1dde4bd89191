/// What an advertiser tells whoever browses: a few short texts under keys. Public, and unauthenticated. Spec 12.2.
///
/// Everybody on the network can read it, and anybody can pretend to be its author.
public struct DiscoveryInfo: Hashable, Sendable {
    /// The texts by their keys.
    public let entries: [String: String]

    /// Nothing to tell.
    public static let empty = DiscoveryInfo(unchecked: [:])

    /// Throws `InvalidDiscoveryInfo` unless every key has 1 to 64 printable ASCII characters without `=`, differs from the
    /// others also ignoring case, and is neither `mpc` nor `n`; every key with its value and the `=` between has at most
    /// 255 bytes; and all of them, with a byte more for each, have at most 400.
    public init(_ entries: [String: String] = [:]) throws(InvalidDiscoveryInfo) {
        self.init(unchecked: entries)
    }

    private init(unchecked entries: [String: String]) { self.entries = entries }
}
