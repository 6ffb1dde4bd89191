import MultipeerFraming

/// HKDF with SHA-256 and without a salt. RFC 5869.
package enum HKDF {
    /// Returns `count` bytes of key material, at most 8,160.
    package static func sha256(key: SecureBytes, info: [UInt8], count: Int) -> SecureBytes {
        precondition((0...255 * SHA256.byteCount).contains(count), "HKDF gives at most 255 digests")
        var input = key.withBytes { [UInt8](copying: $0) }
        var extracted = HMAC.sha256(key: [], input)
        input.erase()
        let pseudorandom = SecureBytes(erasing: &extracted)
        var output: [UInt8] = []
        var block: [UInt8] = []
        var index: UInt8 = 0
        while output.count < count {
            index += 1
            block = HMAC.sha256(key: pseudorandom, block + info + [index])
            output += block
        }
        block.erase()
        defer { output.erase() }
        return SecureBytes(Array(output.prefix(count)))
    }
}
