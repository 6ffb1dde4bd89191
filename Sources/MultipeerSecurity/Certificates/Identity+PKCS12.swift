import CLibSSL

extension Identity {
    /// Reads a PKCS#12 archive (`.p12`, `.pfx`).
    ///
    /// - Parameters:
    ///   - pkcs12: the archive.
    ///   - passphrase: decrypts it; may be empty.
    /// - Throws: ``SecurityFault`` that describes what is wrong with the archive.
    package init(parsingPKCS12 pkcs12: [UInt8], passphrase: String) throws(SecurityFault) {
        guard pkcs12.count <= Self.largestFile else { throw .local(.identityTooLarge) }
        let archive = unsafe DER.decode(pkcs12, PKCS12_free) { unsafe d2i_PKCS12(nil, $0, $1) }
        guard let archive else { throw .local(.unreadableIdentity("not a PKCS#12 archive")) }
        guard PKCS12Work.isAffordable(archive) else { throw .local(.unreadableIdentity(Self.tooMuchWork)) }
        OpenSSLErrors.clear()
        if unsafe PKCS12_mac_present(archive.pointer) == 1,
            unsafe PKCS12_verify_mac(archive.pointer, passphrase, -1) != 1
        {
            let errors = OpenSSLErrors.drain()
            if errors.nameUnavailableAlgorithm { throw .local(.oldEncryption(.archive)) }
            let isUnsupported = errors.contains(
                library: ERR_LIB_EVP, reason: EVP_R_UNSUPPORTED_ALGORITHM)
            throw .local(isUnsupported ? .unreadableIdentity("unsupported algorithm") : .wrongPassphrase)
        }
        var key: OpaquePointer?
        var leaf: OpaquePointer?
        var others: OpaquePointer?
        guard unsafe PKCS12_parse(archive.pointer, passphrase, &key, &leaf, &others) == 1 else {
            let errors = OpenSSLErrors.drain()
            if errors.nameUnavailableAlgorithm { throw .local(.oldEncryption(.archive)) }
            throw .local(.unreadableIdentity(errors.text))
        }
        OpenSSLErrors.clear()
        let certificates = unsafe Self.take(leaf, others)
        guard let owned = unsafe OwnedPointer(key, EVP_PKEY_free) else { throw .local(.noKeyInFile) }
        guard !certificates.isEmpty else { throw .local(.noCertificateInFile) }
        guard !certificates.contains(nil) else { throw .local(.malformedCertificate) }
        try self.init(owned, certificates.compactMap { $0 })
    }

    /// Encodes the identity as a PKCS#12 archive, encrypted with AES-256.
    ///
    /// - Parameters:
    ///   - passphrase: encrypts the archive.
    ///   - rounds: how often the passphrase is hashed; tests that write many archives use fewer.
    /// - Returns: the archive, in DER.
    /// - Throws: ``SecurityFault`` when OpenSSL fails.
    package func encodedPKCS12(
        passphrase: String, rounds: CInt = KeyDerivation.rounds
    ) throws(SecurityFault) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let archive = objects.archive(passphrase: passphrase, rounds: rounds) else {
            throw .internal("cannot write PKCS#12: \(OpenSSLErrors.drain().text)")
        }
        let pointer = unsafe archive.pointer
        guard let der = unsafe DER.encode({ unsafe i2d_PKCS12(pointer, $0) }) else {
            throw .internal("cannot write PKCS#12")
        }
        return der
    }

    /// Reads and frees the certificates that PKCS12_parse returned.
    private static func take(_ leaf: OpaquePointer?, _ others: OpaquePointer?) -> [Certificate?] {
        var certificates: [Certificate?] = []
        if let leaf = unsafe leaf {
            unsafe certificates.append(Certificate(leaf))
            unsafe X509_free(leaf)
        }
        if let stack = unsafe CertificateStack(owning: others) { certificates += stack.certificates }
        return certificates
    }
}
