import CLibSSL

/// How strong the key of an identity has to be: RSA of 2,048 bits, an elliptic curve of 224, or the like.
enum KeyStrength {
    /// The least strength, in bits of a symmetric key, as NIST SP 800-57 compares them.
    static let leastBits: CInt = 112

    /// Returns whether a key is strong enough; false for one that cannot be read.
    static func isSufficient(_ key: OpaquePointer?) -> Bool {
        guard let key = unsafe key else { return false }
        return unsafe EVP_PKEY_get_security_bits(key) >= leastBits
    }
}
