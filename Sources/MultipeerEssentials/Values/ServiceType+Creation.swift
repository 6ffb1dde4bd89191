public import MultipeerDiscovery
public import MultipeerTransport

extension ServiceType {
    /// Creates a service type from its name.
    ///
    /// - Parameter name: 1 to 15 characters, all of them `a`-`z`, `0`-`9` or `-`, at least one of them a letter, and no hyphen
    ///   that is first, last or next to another (RFC 6335, 5.1).
    /// - Throws: `invalidArgument` for any other name.
    public init(_ name: String) throws(MultipeerError) {
        self = try MultipeerError.checking(.invalidArgument) { () throws(InvalidServiceType) in
            try ServiceType(parsing: name)
        }
    }
}
