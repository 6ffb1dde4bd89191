import CLibSSL
package import MultipeerCore

/// Verifies signatures with the keys of certificates, and knows the uids of these keys.
///
/// A value with a closure, so that a simulation can replace the cryptography.
package struct SignatureVerifier: Sendable {
    private let check: @Sendable (_ signature: [UInt8], _ message: [UInt8], _ certificate: [UInt8]) -> Bool

    private let uid: @Sendable (_ certificate: [UInt8]) -> UID?

    /// Creates a verifier that calls `check`, and `uid` for the keyed uid of a certificate.
    package init(
        uid: @escaping @Sendable (_ certificate: [UInt8]) -> UID?,
        _ check:
            @escaping @Sendable (_ signature: [UInt8], _ message: [UInt8], _ certificate: [UInt8]) ->
            Bool
    ) {
        self.uid = uid
        self.check = check
    }

    /// Verifies with OpenSSL.
    package static let standard = SignatureVerifier(
        uid: { (try? Certificate(parsing: $0))?.keyedUID }, verify)

    /// Returns the uid that is the hash of the certificate's key; nil if it is no certificate. [uid.keyed]
    package func keyedUID(of certificate: [UInt8]) -> UID? { uid(certificate) }

    /// Returns whether `signature` was made with the key of `certificate`, which is in DER. [mesh.signature]
    package func isValid(_ signature: [UInt8], of message: [UInt8], by certificate: [UInt8]) -> Bool {
        check(signature, message, certificate)
    }

    private static func verify(_ signature: [UInt8], _ message: [UInt8], _ der: [UInt8]) -> Bool {
        guard let certificate = DER.certificate(der) else { return false }
        guard let key = unsafe X509_get0_pubkey(certificate.pointer) else { return false }
        return unsafe isValid(signature, of: message, by: key)
    }

    static func isValid(_ signature: [UInt8], of message: [UInt8], by key: OpaquePointer) -> Bool {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let scheme = unsafe SignatureScheme(of: key),
            let context = unsafe OwnedPointer(EVP_MD_CTX_new(), EVP_MD_CTX_free),
            unsafe scheme.beginVerifying(context, with: key)
        else { return false }
        let result = unsafe EVP_DigestVerify(
            context.pointer, signature, signature.count, message, message.count)
        return result == 1
    }
}
