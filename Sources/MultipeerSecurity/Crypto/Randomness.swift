import CLibSSL

/// Cryptographically secure random bytes.
package enum Randomness {
    package static func bytes(_ count: Int) throws(SecurityFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        OpenSSLErrors.clear()
        guard unsafe RAND_bytes(&bytes, CInt(count)) == 1 else {
            throw .internal("no random bytes: \(OpenSSLErrors.drain().text)")
        }
        return bytes
    }

    package static func secret(_ count: Int) throws(SecurityFault) -> SecureBytes {
        var secret = try bytes(count)
        return SecureBytes(erasing: &secret)
    }
}
