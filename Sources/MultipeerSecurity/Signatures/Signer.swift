import CLibSSL

/// Signs with the private key of one certificate.
///
/// A value with a closure, so that a simulation can replace the key.
package struct Signer: Sendable {
    /// The certificate in DER, with which others verify.
    package let certificate: [UInt8]
    private let make: @Sendable ([UInt8]) -> [UInt8]?

    /// Creates a signer that calls `make`; nil from it means that signing failed.
    package init(certificate: [UInt8], _ make: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        self.certificate = certificate
        self.make = make
    }

    /// Creates a signer with an identity's key. Signs and verifies once, unless the identity was made so, so that no peer
    /// receives a signature that cannot be verified.
    ///
    /// - Parameters:
    ///   - identity: its key signs, and its leaf verifies.
    ///   - limit: the largest certificate that peers accept, since it travels with each signature.
    /// - Throws: ``SecurityFault`` when no peer would accept its signatures. [mesh.certificate]
    package init(_ identity: Identity, certificateLimit limit: Int) throws(SecurityFault) {
        let leaf = identity.chain[0]
        guard leaf.der.count <= limit else { throw .local(.certificateTooLarge) }
        let objects = identity.objects
        guard let scheme = unsafe SignatureScheme(of: objects.key) else {
            throw .local(.unsupportedKey(leaf.keyDescription))
        }
        self.init(certificate: leaf.der) { unsafe scheme.sign($0, with: objects.key) }
        if objects.isProven { return }
        let message = [UInt8]("MPC/1".utf8)
        guard let signature = sign(message),
            let key = unsafe VerificationKey(of: objects.leaf), key.isValid(signature, of: message)
        else { throw .local(.unsupportedKey(leaf.keyDescription)) }
    }

    /// Returns the signature; nil when OpenSSL fails.
    package func sign(_ message: [UInt8]) -> [UInt8]? { make(message) }
}

extension SignatureScheme {
    /// Returns the signature that a private key of this scheme makes; nil when OpenSSL fails.
    fileprivate func sign(_ message: [UInt8], with key: OpaquePointer) -> [UInt8]? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let context = unsafe OwnedPointer(EVP_MD_CTX_new(), EVP_MD_CTX_free),
            unsafe beginSigning(context, with: key)
        else { return nil }
        var count = 0
        guard unsafe EVP_DigestSign(context.pointer, nil, &count, message, message.count) == 1 else {
            return nil
        }
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context.pointer, &signature, &count, message, message.count) == 1,
            count <= signature.count
        else { return nil }
        return Array(signature.prefix(count))
    }
}
