package import MultipeerCore

/// A private key and its certificates: what a session presents to its peers. Spec 3.4.
public struct Identity: Sendable {
    /// The maximum number of certificates in a chain.
    public static let longestChain = 8
    /// The maximum size of a chain in bytes, in DER, all certificates together.
    public static let largestChain = 16_384

    /// The leaf first, each one signed by the next; at most 8, together at most 16 KiB.
    public let chain: [Certificate]
    /// The private key and the chain. OpenSSL erases the key when the last copy of the identity is released.
    let objects: IdentityObjects

    /// The fingerprint of the leaf, which other peers pin.
    public let fingerprint: Fingerprint
    /// The keyed uid of the leaf's key.
    package let uid: UID

    /// `leaf`: the first certificate of the chain, as OpenSSL holds it; nil to read it.
    init(
        chain: [Certificate], key: borrowing OwnedPointer, leaf read: consuming OwnedPointer? = nil,
        isProven: Bool = false
    ) throws(SecurityFault) {
        guard let leaf = chain.first else { throw .local(.noCertificateInFile) }
        let size = chain.reduce(0) { $0 + $1.der.count }
        guard chain.count <= Self.longestChain, size <= Self.largestChain else {  // [chain.limit]
            throw .local(.chainTooLong)
        }
        guard let own = read ?? DER.certificate(leaf.der),
            let objects = IdentityObjects(key, own, issuers: chain.dropFirst(), isProven: isProven)
        else { throw .internal("an identity that was read cannot be read again") }
        self.chain = chain
        self.objects = objects
        fingerprint = leaf.fingerprint
        uid = leaf.keyedUID
    }
}

extension Identity {
    /// Throws unless a peer with this uid can prove it: it is random, or of this identity. [uid.proof]
    package static func check(_ identity: Identity?, for uid: UID) throws(SecurityFault) {
        guard !uid.isKeyed || identity?.uid == uid else { throw .local(.foreignIdentity) }
    }
}

extension Identity: CustomStringConvertible {
    /// The description of the leaf, never the key.
    public var description: String { chain.first?.description ?? "" }
}
