import CLibSSL
package import MultipeerCore

/// An X.509 certificate. Every string is one line of printable ASCII, so it is safe to display.
public struct Certificate: Sendable {
    /// The DER encoding, over which the fingerprint is computed.
    public let der: [UInt8]
    /// The SHA-256 digest of ``der``.
    public let fingerprint: Fingerprint
    /// The name of the holder, in the form of RFC 2253.
    public let subject: String
    /// The name of the issuer, in the form of RFC 2253.
    public let issuer: String
    /// Seconds since 1970, UTC.
    public let notBefore: Int64
    /// Seconds since 1970, UTC.
    public let notAfter: Int64
    /// The kind of public key, such as "P-256", "Ed25519" or "RSA-2048".
    public let keyDescription: String
    /// Whether the certificate is signed with its own key.
    public let isSelfSigned: Bool
    /// The keyed uid that the public key hashes to.
    package let keyedUID: UID

    /// Reads one certificate.
    ///
    /// - Throws: ``SecurityFault`` when the bytes are not exactly one certificate.
    package init(parsing der: [UInt8]) throws(SecurityFault) {
        guard let certificate = DER.certificate(der),
            let facts = unsafe CertificateFields(certificate.pointer)
        else { throw .local(.malformedCertificate) }
        self.init(der, facts)
    }

    /// Reads a certificate that OpenSSL holds. Returns nil when it cannot be read.
    init?(_ certificate: OpaquePointer) {
        guard let der = unsafe Certificate.der(of: certificate),
            let facts = unsafe CertificateFields(certificate)
        else { return nil }
        self.init(der, facts)
    }

    /// Reads a certificate that was just signed with its own key, whose signature is therefore not verified.
    init?(madeFrom certificate: OpaquePointer) {
        guard let der = unsafe Certificate.der(of: certificate),
            let facts = unsafe CertificateFields(certificate, isSelfSigned: true)
        else { return nil }
        self.init(der, facts)
    }

    static func der(of certificate: OpaquePointer) -> [UInt8]? {
        unsafe DER.encode { unsafe i2d_X509(certificate, $0) }
    }

    private init(_ der: [UInt8], _ facts: CertificateFields) {
        self.der = der
        fingerprint = Fingerprint(ofDER: der)
        subject = facts.subject
        issuer = facts.issuer
        notBefore = facts.notBefore
        notAfter = facts.notAfter
        keyDescription = facts.keyDescription
        isSelfSigned = facts.isSelfSigned
        keyedUID = facts.keyedUID
    }

    /// The certificate as PEM text.
    public var pem: [UInt8] {
        guard let certificate = DER.certificate(der), let memory = MemoryBIO() else { return [] }
        return unsafe PEM_write_bio_X509(memory.bio, certificate.pointer) == 1 ? memory.contents() : []
    }
}

extension Certificate: Hashable {
    /// Compares the bytes.
    public static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }
    /// Hashes the fingerprint.
    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

extension Certificate: CustomStringConvertible {
    /// The subject, kind of key and fingerprint, on one line.
    public var description: String { "\(subject) (\(keyDescription), \(fingerprint))" }
}
