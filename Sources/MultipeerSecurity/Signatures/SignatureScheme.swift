import CLibSSL

/// How a key signs: the signature scheme of TLS 1.3 for its type, RSA with SHA-256. RFC 8446, section 4.2.3.
enum SignatureScheme {
    /// ECDSA with this digest.
    case ecdsa(String)
    /// The digest is part of the algorithm.
    case edwards
    /// RSASSA-PSS with SHA-256, and a salt as long as the digest.
    case rsa

    /// Returns nil for a key of another type, or one whose signatures take long to verify. [mesh.signature]
    init?(of key: OpaquePointer) {
        switch unsafe CertificateFields.key(key) {
        case "P-256": self = .ecdsa("SHA256")
        case "P-384": self = .ecdsa("SHA384")
        case "P-521": self = .ecdsa("SHA512")
        case "Ed25519", "Ed448": self = .edwards
        default:
            guard unsafe Self.isModerateRSA(key) else { return nil }
            self = .rsa
        }
    }

    /// An exponent may be as long as the modulus, and would then cost 100 times as much as the usual one.
    private static func isModerateRSA(_ key: OpaquePointer) -> Bool {
        guard [EVP_PKEY_RSA, EVP_PKEY_RSA_PSS].contains(unsafe EVP_PKEY_get_base_id(key)),
            (2_048...8_192).contains(unsafe EVP_PKEY_get_bits(key))
        else { return false }
        var exponent: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(key, "e", &exponent) == 1 else { return false }
        defer { unsafe BN_free(exponent) }
        return unsafe BN_num_bits(exponent) <= 32
    }

    private typealias Beginning = (
        OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, UnsafePointer<CChar>?, OpaquePointer?,
        UnsafePointer<CChar>?, OpaquePointer?, UnsafePointer<OSSL_PARAM>?
    ) -> CInt

    /// Returns whether `context` is ready to sign with this key.
    func beginSigning(_ context: borrowing OwnedPointer, with key: OpaquePointer) -> Bool {
        unsafe begin(context, with: key, EVP_DigestSignInit_ex)
    }

    /// Returns whether `context` is ready to verify with this key.
    func beginVerifying(_ context: borrowing OwnedPointer, with key: OpaquePointer) -> Bool {
        unsafe begin(context, with: key, EVP_DigestVerifyInit_ex)
    }

    private func begin(
        _ context: borrowing OwnedPointer, with key: OpaquePointer, _ begin: Beginning
    ) -> Bool {
        var settings: OpaquePointer?
        switch self {
        case .ecdsa(let digest):
            return unsafe begin(context.pointer, &settings, digest, nil, nil, key, nil) == 1
        case .edwards:
            return unsafe begin(context.pointer, &settings, nil, nil, nil, key, nil) == 1
        case .rsa:
            return unsafe begin(context.pointer, &settings, "SHA256", nil, nil, key, nil) == 1
                && EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1
        }
    }
}
