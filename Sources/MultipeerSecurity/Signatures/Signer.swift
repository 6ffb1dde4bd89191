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

    /// Creates a signer with an identity's key. Signs and verifies once, so that no peer receives a signature that cannot
    /// be verified.
    ///
    /// - Parameters:
    ///   - identity: its key signs, and its leaf verifies.
    ///   - limit: the largest certificate that peers accept, since it travels with each signature.
    /// - Throws: ``SecurityFault`` when no peer would accept its signatures. [mesh.certificate]
    package init(_ identity: Identity, certificateLimit limit: Int) throws(SecurityFault) {
        let leaf = identity.chain[0]
        guard leaf.der.count <= limit else { throw .local(.certificateTooLarge) }
        let key = try SigningKey(identity.key)
        self.init(certificate: leaf.der) { key.sign($0) }
        let message = [UInt8]("MPC/1".utf8)
        guard let signature = sign(message),
            SignatureVerifier.standard.isValid(signature, of: message, by: certificate)
        else { throw .local(.unsupportedKey(leaf.keyDescription)) }
    }

    /// Returns the signature; nil when OpenSSL fails.
    package func sign(_ message: [UInt8]) -> [UInt8]? { make(message) }
}

/// A private key in the form in which OpenSSL signs with it.
@safe
private final class SigningKey: Sendable {
    // Set in init and then only read by EVP_DigestSignInit_ex, which OpenSSL allows from any thread. OpenSSL erases the
    // key when it frees it.
    private nonisolated(unsafe) let pointer: OpaquePointer

    init(_ key: SecureBytes) throws(SecurityFault) {
        guard let decoded = DER.privateKey(key), unsafe EVP_PKEY_up_ref(decoded.pointer) == 1 else {
            throw .internal("a key that was read cannot be read again")
        }
        unsafe pointer = decoded.pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    func sign(_ message: [UInt8]) -> [UInt8]? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let scheme = unsafe SignatureScheme(of: pointer),
            let context = unsafe OwnedPointer(EVP_MD_CTX_new(), EVP_MD_CTX_free),
            unsafe scheme.beginSigning(context, with: pointer)
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
