import CLibSSL
import MultipeerCore

extension Identity {
    /// Reads PEM or PKCS#12, detecting the format.
    ///
    /// - Parameters:
    ///   - file: the contents of the file.
    ///   - passphrase: opens an encrypted key or archive.
    /// - Throws: ``SecurityFault`` that describes what is wrong with the file.
    package init(parsing file: [UInt8], passphrase: String? = nil) throws(SecurityFault) {
        if file.first == 0x30 {  // A DER sequence; no PEM text begins with the digit 0.
            try self.init(archive: file, passphrase: passphrase)
        } else {
            try self.init(parsingPEM: file, passphrase: passphrase)
        }
    }

    private init(archive: [UInt8], passphrase: String?) throws(SecurityFault) {
        do throws(SecurityFault) {
            try self.init(parsingPKCS12: archive, passphrase: passphrase ?? "")
        } catch {
            let isMissing = passphrase == nil && error == .local(.wrongPassphrase)
            throw isMissing ? .local(.passphraseNeeded) : error
        }
    }

    /// Returns the same key with further certificates in its chain, given in any order; duplicates are ignored.
    ///
    /// - Throws: ``SecurityFault`` when they do not form one chain with the existing certificates.
    package func adding(_ issuers: [Certificate]) throws(SecurityFault) -> Identity {
        try Identity(objects.sharedKey, chain + issuers)
    }

    /// Puts the certificates in order: the key's own first, then each one's issuer.
    init(_ key: borrowing OwnedPointer, _ certificates: [Certificate]) throws(SecurityFault) {
        let kind = unsafe CertificateFields.key(key.pointer)
        // [tls.strength]
        guard unsafe KeyStrength.isSufficient(key.pointer) else { throw .local(.weakKey(kind)) }
        guard Self.isUsable(kind) else { throw .local(.unsupportedKey(kind)) }
        guard let leaf = certificates.first(where: { Self.belongs($0, to: key) }) else {
            throw .local(.keyMismatch)
        }
        guard certificates.count <= Self.longestChain else { throw .local(.chainTooLong) }  // [chain.limit]
        var chain = [leaf]
        var rest = certificates.filter { $0 != leaf }
        while let last = chain.last, !rest.isEmpty {
            guard let next = rest.firstIndex(where: { Self.issued($0, last) }) else {
                throw .local(.brokenChain)
            }
            let issuer = rest.remove(at: next)
            rest.removeAll { $0 == issuer }
            chain.append(issuer)
        }
        try self.init(chain: chain, key: key)
    }

    /// Returns whether TLS 1.3 can sign with this kind of key, in reasonable time.
    private static func isUsable(_ kind: String) -> Bool {
        if kind.begins(with: "RSA-") { return Int(kind.dropFirst(4)).map { $0 <= 8_192 } ?? false }
        return ["P-256", "P-384", "P-521", "Ed25519", "Ed448"].contains(kind)
    }

    private static func belongs(_ certificate: Certificate, to key: borrowing OwnedPointer) -> Bool {
        guard let certificate = DER.certificate(certificate.der) else { return false }
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        return unsafe X509_check_private_key(certificate.pointer, key.pointer) == 1
    }

    /// Returns whether the names match and the signature is the issuer's.
    private static func issued(_ issuer: Certificate, _ subject: Certificate) -> Bool {
        guard let issuer = DER.certificate(issuer.der), let subject = DER.certificate(subject.der) else {
            return false
        }
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard unsafe X509_check_issued(issuer.pointer, subject.pointer) == X509_V_OK else { return false }
        return unsafe X509_verify(subject.pointer, X509_get0_pubkey(issuer.pointer)) == 1
    }
}
