public import MultipeerSecurity

/// A private key and the certificates that speak for it; what `SecIdentity` is on Apple's systems.
public struct MCIdentity: Sendable {
    /// The identity in the native API.
    public let native: Identity

    /// The identity of the native API.
    public init(_ native: Identity) { self.native = native }

    /// What `securityIdentity` stands for.
    static func native(_ identity: [Any]?) -> Identity? {
        guard let first = identity?.first else { return nil }
        guard let own = first as? MCIdentity else {
            preconditionFailure("MCSession: securityIdentity begins with an MCIdentity, not with \(first)")
        }
        return own.native
    }
}
