public import MultipeerHandshake
public import MultipeerTransport

extension ConnectionData {
    /// Decodes connection data and checks it. Spec 4.1.
    ///
    /// - Parameter bytes: What `bytes` returned on the other side.
    /// - Throws: `invalidConnectionData`, whose text says which check failed first.
    public init(_ bytes: [UInt8]) throws(MultipeerError) {
        self = try MultipeerError.checking(.invalidConnectionData) { () throws(InvalidConnectionData) in
            try ConnectionData(parsing: bytes)
        }
    }
}
