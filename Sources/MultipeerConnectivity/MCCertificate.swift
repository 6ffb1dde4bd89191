public import MultipeerSecurity

/// An X.509 certificate; what `SecCertificate` is on Apple's systems.
public struct MCCertificate: Hashable, Sendable {
    /// The certificate in the native API, with its names and dates.
    public let native: Certificate

    /// The certificate of the native API.
    public init(_ native: Certificate) { self.native = native }
}
