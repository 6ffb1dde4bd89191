/// Reads the keys of certificates that verify signatures.
///
/// A value with a closure, so that a simulation can replace the cryptography.
package struct SignatureVerifier: Sendable {
    private let read: @Sendable (_ certificate: [UInt8]) -> VerificationKey?

    /// Creates a verifier that calls `read` for each certificate; nil from it means that it is no certificate.
    package init(_ read: @escaping @Sendable (_ certificate: [UInt8]) -> VerificationKey?) {
        self.read = read
    }

    /// Verifies with OpenSSL.
    package static let standard = SignatureVerifier { certificate in
        guard let certificate = DER.certificate(certificate) else { return nil }
        return unsafe VerificationKey(of: certificate.pointer)
    }

    /// Returns the key of a certificate, which is in DER; nil if it is no certificate. To read it takes OpenSSL 3.0 longer than
    /// to verify three signatures.
    package func key(of certificate: [UInt8]) -> VerificationKey? { read(certificate) }

    /// Returns whether `signature` was made with the key of `certificate`, which is in DER. [mesh.signature]
    package func isValid(_ signature: [UInt8], of message: [UInt8], by certificate: [UInt8]) -> Bool {
        key(of: certificate)?.isValid(signature, of: message) ?? false
    }
}
