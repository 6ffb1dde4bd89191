import CLibSSL

/// HMAC with SHA-256.
package enum HMAC {
    package static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        sha256(key: key.span, message)
    }

    package static func sha256(key: Span<UInt8>, _ message: [UInt8]) -> [UInt8] {
        _ = OpenSSLAlgorithms.areLoaded
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        let made = unsafe key.withUnsafeBufferPointer { key in
            // OpenSSL takes a null key to mean "the key of the previous call", so an empty one needs an
            // address.
            var none: UInt8 = 0
            return unsafe withUnsafePointer(to: &none) { empty in
                unsafe CLibSSL.HMAC(
                    EVP_sha256(), key.baseAddress ?? empty, CInt(key.count), message, message.count, &code,
                    nil) != nil
            }
        }
        precondition(made, "SHA-256 is part of every libcrypto")
        return code
    }

    package static func sha256(key: SecureBytes, _ message: [UInt8]) -> [UInt8] {
        key.withBytes { sha256(key: $0, message) }
    }
}

/// Returns whether two byte strings are equal, in a time that depends on their lengths only.
package func constantTimeEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return unsafe CRYPTO_memcmp(one, other, one.count) == 0
}
