public import MultipeerSecurity
public import MultipeerTransport

extension TrustStore {
    /// Reads a store from text.
    ///
    /// - Parameter text: The output of ``text``, possibly edited.
    /// - Throws: `invalidArgument`, whose text has the number of the first line that is wrong. Nothing is skipped silently: a
    ///   store that loses an entry would trust a new key.
    public init(text: [UInt8]) throws(MultipeerError) {
        self = try MultipeerError.checking { () throws(SecurityFault) in try TrustStore(parsing: text) }
    }
}
