import CLibSSL
package import MultipeerCore

/// The public key of one certificate, with which signatures are verified.
package struct VerificationKey: Sendable {
    /// The uid that is the hash of the key; nil if it has none. [uid.keyed]
    package let keyedUID: UID?
    private let check: @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool

    /// Creates a key that calls `check`.
    package init(
        keyedUID: UID?, _ check: @escaping @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool
    ) {
        self.keyedUID = keyedUID
        self.check = check
    }

    /// Shares the ownership of the key of a certificate; nil when OpenSSL cannot read it, or none of its signatures is accepted.
    init?(of certificate: OpaquePointer) {
        guard let key = unsafe X509_get0_pubkey(certificate), let scheme = unsafe SignatureScheme(of: key)
        else {
            OpenSSLErrors.clear()
            return nil
        }
        let shared = unsafe SharedKey(key)
        self.init(keyedUID: unsafe UID.keyed(by: certificate)) { shared.isValid($0, of: $1, scheme) }
    }

    /// Returns whether `signature` was made with this key. [mesh.signature]
    package func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool { check(signature, message) }
}

/// A public key in the form in which OpenSSL verifies with it.
@safe
private final class SharedKey: Sendable {
    // Set in init and then only read by EVP_DigestVerifyInit_ex, which OpenSSL allows from any thread.
    private nonisolated(unsafe) let pointer: OpaquePointer

    init(_ key: OpaquePointer) {
        _ = unsafe EVP_PKEY_up_ref(key)
        unsafe pointer = key
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    func isValid(_ signature: [UInt8], of message: [UInt8], _ scheme: SignatureScheme) -> Bool {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let context = unsafe OwnedPointer(EVP_MD_CTX_new(), EVP_MD_CTX_free),
            unsafe scheme.beginVerifying(context, with: pointer)
        else { return false }
        let result = unsafe EVP_DigestVerify(
            context.pointer, signature, signature.count, message, message.count)
        return result == 1
    }
}
