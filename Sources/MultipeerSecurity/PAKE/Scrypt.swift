import CLibSSL

/// scrypt, which makes each guess at a short text cost memory and time. RFC 7914.
enum Scrypt {
    private static let cost: UInt64 = 4_096
    private static let blockSize: UInt64 = 8
    private static let parallelization: UInt64 = 1
    /// Twice what the parameters need.
    private static let memory: UInt64 = 8 * 1_048_576

    static func derive(_ text: [UInt8], salt: [UInt8], count: Int) throws(SecurityFault) -> SecureBytes {
        var key = [UInt8](repeating: 0, count: count)
        OpenSSLErrors.clear()
        let isDerived = unsafe text.withUnsafeBytes { text in
            let characters = unsafe text.assumingMemoryBound(to: CChar.self).baseAddress
            return unsafe EVP_PBE_scrypt(
                characters, text.count, salt, salt.count, cost, blockSize, parallelization, memory, &key,
                count)
                == 1
        }
        guard isDerived else { throw .internal("cannot derive a password: \(OpenSSLErrors.drain().text)") }
        return SecureBytes(erasing: &key)
    }
}
