public import MultipeerSecurity
public import MultipeerTransport

extension Certificate {
    /// Reads one certificate.
    ///
    /// - Parameter der: The certificate in DER.
    /// - Throws: `identity` when the bytes are not exactly one certificate.
    public init(der: [UInt8]) throws(MultipeerError) {
        self = try MultipeerError.checking { () throws(SecurityFault) in try Certificate(parsing: der) }
    }
}
