import CLibSSL

/// SHA-256: the only digest of the protocol.
package enum SHA256 {
    package static let byteCount = 32

    package static func hash(_ bytes: [UInt8]) -> [UInt8] { hash(bytes.span) }

    package static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        var hasher = Hasher()
        hasher.update(bytes)
        return hasher.finish()
    }

    /// Takes bytes in pieces and returns their digest once.
    @safe package struct Hasher: ~Copyable {
        private let context: OpaquePointer?

        package init() {
            _ = OpenSSLAlgorithms.areLoaded
            unsafe context = EVP_MD_CTX_new()
            let started = unsafe EVP_DigestInit_ex2(context, EVP_sha256(), nil)
            precondition(started == 1, "SHA-256 is part of every libcrypto")
        }

        deinit { unsafe EVP_MD_CTX_free(context) }

        package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

        package mutating func update(_ bytes: Span<UInt8>) {
            unsafe bytes.withUnsafeBufferPointer { pointer in
                let taken = unsafe EVP_DigestUpdate(context, pointer.baseAddress, pointer.count)
                precondition(taken == 1, "cannot add bytes to the digest")
            }
        }

        /// Returns the digest of the bytes so far; more may follow.
        package func digest() -> [UInt8] {
            let copy = Hasher()
            let copied = unsafe EVP_MD_CTX_copy_ex(copy.context, context)
            precondition(copied == 1, "cannot copy a started digest")
            return copy.finish()
        }

        package consuming func finish() -> [UInt8] {
            var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
            let done = unsafe EVP_DigestFinal_ex(context, &digest, nil)
            precondition(done == 1, "a started digest ends once")
            return digest
        }
    }
}
