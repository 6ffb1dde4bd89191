import CLibSSL

extension Identity {
    /// Generates a fresh P-256 key and a self-signed certificate.
    ///
    /// The certificate reveals nothing about its holder: a fixed name unless one is given, a random serial
    /// number, and dates that reveal neither the time of creation nor the state of a clock.
    ///
    /// - Parameter commonName: the name in the certificate, at most 64 characters; empty for the fixed one.
    /// - Returns: an identity with a chain of one certificate.
    /// - Throws: ``SecurityFault`` when OpenSSL fails, or the name is too long.
    package static func generated(commonName: String = "") throws(SecurityFault) -> Identity {
        // [key.ephemeral]
        OpenSSLErrors.clear()
        guard let key = makeKey() else {
            throw .internal("cannot create a key: \(OpenSSLErrors.drain().text)")
        }
        return try selfSigned(key, named: commonName, isNew: true)
    }

    /// Returns the same key with a new self-signed certificate, which reveals nothing else: no name, and nothing of the chain.
    ///
    /// Throws `unsupportedKey` when OpenSSL writes the public key in other bytes than the leaf has: the uid would differ.
    func withoutChain() throws(SecurityFault) -> Identity {  // [invite.tls]
        OpenSSLErrors.clear()
        let bare = try Identity.selfSigned(objects.sharedKey, named: "", isNew: false)
        guard bare.uid == uid else {
            throw .local(.unsupportedKey("its certificate has it in an unusual form"))
        }
        return bare
    }

    /// Signs a certificate. `isNew`: `makeKey` made the key, so what was signed is used as it is. Any other key may be one with
    /// which OpenSSL signs nothing that verifies: that certificate is read as a peer will read it, and its signature verified.
    private static func selfSigned(
        _ key: borrowing OwnedPointer, named name: String, isNew: Bool
    ) throws(SecurityFault) -> Identity {
        let serial = try Randomness.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } >> 1
        let name = Array((name.isEmpty ? "multipeer" : name).utf8)
        if let made = sign(key, serial: serial, name: name, isNew: isNew) {
            if isNew, let certificate = unsafe Certificate(madeFrom: made.pointer) {
                return try Identity(chain: [certificate], key: key, leaf: made, isProven: true)
            }
            if !isNew, let der = unsafe Certificate.der(of: made.pointer), let leaf = DER.certificate(der),
                let certificate = unsafe Certificate(leaf.pointer), certificate.isSelfSigned
            {
                return try Identity(chain: [certificate], key: key, leaf: leaf, isProven: true)
            }
        }
        throw .internal("cannot create a certificate: \(OpenSSLErrors.drain().text)")
    }

    private static func makeKey() -> OwnedPointer? {
        guard let curve = unsafe multipeer_p256_parameters(),
            let context = unsafe OwnedPointer(EVP_PKEY_CTX_new_from_pkey(nil, curve, nil), EVP_PKEY_CTX_free),
            unsafe EVP_PKEY_keygen_init(context.pointer) == 1
        else { return nil }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_generate(context.pointer, &key) == 1 else { return nil }
        return unsafe OwnedPointer(key, EVP_PKEY_free)
    }

    private static func sign(
        _ key: borrowing OwnedPointer, serial: UInt64, name: [UInt8], isNew: Bool
    ) -> OwnedPointer? {
        guard let certificate = unsafe OwnedPointer(X509_new(), X509_free) else { return nil }
        let subject = unsafe X509_get_subject_name(certificate.pointer)
        guard unsafe X509_set_version(certificate.pointer, 2) == 1,
            unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.pointer), serial) == 1,
            unsafe ASN1_TIME_set_string_X509(
                X509_getm_notBefore(certificate.pointer), "20000101000000Z") == 1,
            unsafe ASN1_TIME_set_string_X509(
                X509_getm_notAfter(certificate.pointer), "99991231235959Z") == 1,
            unsafe X509_NAME_add_entry_by_txt(
                subject, "CN", MBSTRING_FLAG | 0, name, CInt(name.count), -1, 0) == 1,
            unsafe X509_set_issuer_name(certificate.pointer, subject) == 1,
            isNew
                ? setPoint(of: key, in: certificate)
                : unsafe X509_set_pubkey(certificate.pointer, key.pointer) == 1,
            unsafe X509_sign(certificate.pointer, key.pointer, digest(for: key)) > 0
        else { return nil }
        return certificate
    }

    /// Sets the public key of a new key of P-256.
    private static func setPoint(of key: borrowing OwnedPointer, in certificate: borrowing OwnedPointer)
        -> Bool
    {
        var point: UnsafeMutablePointer<UInt8>?
        let count = unsafe EVP_PKEY_get1_encoded_public_key(key.pointer, &point)
        defer { unsafe CRYPTO_free(point, "", 0) }
        guard
            let known = unsafe OwnedPointer(multipeer_p256_public(point, count), EVP_PKEY_free)
        else { return unsafe X509_set_pubkey(certificate.pointer, key.pointer) == 1 }
        return unsafe X509_set_pubkey(certificate.pointer, known.pointer) == 1
    }

    /// Returns the digest to sign with; nil for keys whose signatures contain one.
    private static func digest(for key: borrowing OwnedPointer) -> OpaquePointer? {
        switch unsafe EVP_PKEY_get_base_id(key.pointer) {
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: nil
        default: unsafe EVP_sha256()
        }
    }
}
