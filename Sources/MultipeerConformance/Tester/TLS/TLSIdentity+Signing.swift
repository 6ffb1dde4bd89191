import CLibSSL

// Signatures of entries. Spec 11.4.
extension TLSIdentity {
    /// Returns the signature of these bytes with the identity's key, or nil when OpenSSL fails.
    func sign(_ message: [UInt8]) -> [UInt8]? {
        let key = unsafe key.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &position, buffer.count)
        }
        guard let key = unsafe key, let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe EVP_MD_CTX_free(context)
        }
        var settings: OpaquePointer?
        let digest = unsafe Self.digest(of: key)
        var signature = [UInt8](repeating: 0, count: 2_048)
        var count = signature.count
        guard let digest, unsafe EVP_DigestSignInit(context, &settings, digest.pointer, nil, key) == 1,
            unsafe Self.pad(settings, key),
            unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { return nil }
        return Array(signature.prefix(count))
    }

    /// Returns whether the key of the certificate `leaf` made the signature of these bytes.
    static func verifies(_ signature: [UInt8], of message: [UInt8], by leaf: [UInt8]) -> Bool {
        let certificate = unsafe leaf.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            let certificate = unsafe d2i_X509(nil, &position, buffer.count)
            let isWhole = unsafe position == buffer.baseAddress?.advanced(by: buffer.count)
            if !isWhole { unsafe X509_free(certificate) }
            return unsafe isWhole ? certificate : nil
        }
        guard let certificate = unsafe certificate else { return false }
        defer { unsafe X509_free(certificate) }
        guard let key = unsafe X509_get0_pubkey(certificate), let digest = unsafe digest(of: key),
            let context = unsafe EVP_MD_CTX_new()
        else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        var settings: OpaquePointer?
        guard unsafe EVP_DigestVerifyInit(context, &settings, digest.pointer, nil, key) == 1,
            unsafe pad(settings, key)
        else { return false }
        let result = unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count)
        ERR_clear_error()
        return result == 1
    }

    /// A digest of OpenSSL's; none where it is part of the algorithm.
    @safe private struct Digest {
        let pointer: OpaquePointer?
    }

    /// Returns nil for a key that signs no entries.
    private static func digest(of key: OpaquePointer) -> Digest? {
        let size = unsafe EVP_PKEY_get_bits(key)
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: return unsafe Digest(pointer: nil)
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            var exponent: OpaquePointer?
            guard unsafe EVP_PKEY_get_bn_param(key, "e", &exponent) == 1 else { return nil }
            defer { unsafe BN_free(exponent) }
            let isUsual = unsafe BN_num_bits(exponent) <= 32 && (2_048...8_192).contains(size)
            return unsafe isUsual ? Digest(pointer: EVP_sha256()) : nil
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 32)
            guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return nil }
            switch String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) {
            case "prime256v1": return unsafe Digest(pointer: EVP_sha256())
            case "secp384r1": return unsafe Digest(pointer: EVP_sha384())
            case "secp521r1": return unsafe Digest(pointer: EVP_sha512())
            default: return nil
            }
        default: return nil
        }
    }

    private static func pad(_ settings: OpaquePointer?, _ key: OpaquePointer) -> Bool {
        guard [EVP_PKEY_RSA, EVP_PKEY_RSA_PSS].contains(unsafe EVP_PKEY_get_base_id(key)) else { return true }
        return unsafe EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1
    }
}
