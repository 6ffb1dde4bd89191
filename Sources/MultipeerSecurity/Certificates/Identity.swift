/// A private key and the certificates that speak for it: what a session shows of itself. Spec 3.4.
public struct Identity: Sendable {
    /// The most certificates of a chain.
    public static let longestChain = 8
    /// The most bytes of a chain, in DER, all certificates together.
    public static let largestChain = 16_384

    /// The leaf first, each one signed by the next; at most 8, together at most 16 KiB.
    public let chain: [Certificate]
    /// The private key in DER. Erased when the last copy of the identity is gone.
    let key: SecureBytes

    /// What other peers pin: the fingerprint of the leaf.
    public let fingerprint: Fingerprint

    init(chain: [Certificate], key: SecureBytes) throws(SecurityFault) {
        guard let leaf = chain.first else { throw .local(.noCertificateInFile) }
        let size = chain.reduce(0) { $0 + $1.der.count }
        guard chain.count <= Self.longestChain, size <= Self.largestChain else {  // [chain.limit]
            throw .local(.chainTooLong)
        }
        self.chain = chain
        self.key = key
        fingerprint = leaf.fingerprint
    }
}

extension Identity: CustomStringConvertible {
    /// The leaf's, never the key.
    public var description: String { chain.first?.description ?? "" }
}
