public import MultipeerDiscovery
public import MultipeerTransport

extension DiscoveryInfo {
    /// Creates discovery info from texts under keys.
    ///
    /// - Parameter entries: Every key has 1 to 64 printable ASCII characters without `=`, differs from the others also ignoring
    ///   case, and is not `mpc`, `n` or `c`; every key with its value and the `=` between has at most 255 bytes; and all of them,
    ///   with a byte more for each, have at most 1,222: as short as possible is best, since every question is answered with them.
    /// - Throws: `invalidArgument` for any other entries.
    public init(_ entries: [String: String] = [:]) throws(MultipeerError) {
        self = try MultipeerError.checking(.invalidArgument) { () throws(InvalidDiscoveryInfo) in
            try DiscoveryInfo(validating: entries)
        }
    }
}
