/// Why security failed, and which side caused it. Descriptions contain no secrets and no unescaped text of the
/// peer.
package enum SecurityFault: Error, Hashable, Sendable {
    /// The other side violated the protocol, or is not the expected peer.
    case peer(PeerViolation)
    /// An input of this side is not usable: a file, a passphrase, a key.
    case local(LocalProblem)
    /// Neither: the machine or this library failed.
    case `internal`(String)
}

extension SecurityFault {
    /// What the other side did wrong.
    package enum PeerViolation: Hashable, Sendable {
        /// It presented a certificate that is not one of the expected ones.
        case unexpectedCertificate
        /// Its key does not hash to the keyed uid of the expected peer.
        case foreignKey
        /// It presented no certificate.
        case noCertificate
        /// It presented more than 8 certificates, or more than 16 KiB of them.
        case chainTooLong
        /// A certificate could not be read.
        case malformedCertificate
        /// Its key has less than 112 bits of security.
        case weakKey
        /// It does not offer TLS 1.3.
        case wrongVersion
        /// It does not speak this protocol (ALPN).
        case noCommonProtocol
        /// Its first bytes are not TLS, which the two preferences require.
        case notTLS
        /// Its first bytes are not the plain preface, which the two preferences require.
        case notPlain
        /// A record could not be decrypted, or is not a record.
        case badRecord
        /// Its share of a key exchange is not a usable point of the curve.
        case invalidPoint
        /// The connection ended without close_notify, so bytes may be missing.
        case truncated
        /// It ended the channel with this TLS alert.
        case alert(Alert)
        /// The handshake failed in another way; the text is OpenSSL's.
        case handshakeFailed(String)
    }

    /// A TLS alert as it was received. RFC 8446, section 6.
    package struct Alert: RawRepresentable, Hashable, Sendable {
        /// The number on the wire.
        package let rawValue: UInt8
        /// Creates an alert with any number, including one without a name.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Whether the alert says that the other side does not accept this side's certificate. It may accept
        /// it later, when its own application has named this peer.
        package var refusesCertificate: Bool { [42, 44, 45, 46, 48, 49, 116].contains(rawValue) }
    }

    /// What is wrong with an input of this side.
    package enum LocalProblem: Hashable, Sendable {
        /// The file is neither PEM nor PKCS#12, or is damaged.
        case unreadableIdentity(String)
        /// Its encryption is one that OpenSSL has only if the machine's configuration says so: RC2, single DES, MD4 and the like.
        case oldEncryption(OldForm)
        /// The file is longer than an identity can be.
        case identityTooLarge
        /// The file is encrypted and no passphrase was given.
        case passphraseNeeded
        /// The passphrase does not decrypt the file.
        case wrongPassphrase
        /// The file holds no certificate.
        case noCertificateInFile
        /// The file holds no private key.
        case noKeyInFile
        /// The private key does not belong to any certificate of the file.
        case keyMismatch
        /// The certificates of the file do not form one chain from the leaf upwards.
        case brokenChain
        /// More than 8 certificates, or more than 16 KiB of them.
        case chainTooLong
        /// The key is of a kind or a size that TLS 1.3 does not support.
        case unsupportedKey(String)
        /// The key has less than 112 bits of security.
        case weakKey(String)
        /// The leaf certificate is larger than 4,096 bytes, so that it cannot sign what is sent to a mesh.
        case certificateTooLarge
        /// A certificate could not be read.
        case malformedCertificate
        /// The peer id is the hash of another key, or there is no identity.
        case foreignIdentity
        /// The trust store could not be read: the problem, and its line.
        case malformedTrustStore(line: Int, TrustStoreProblem)
    }

    /// What is encrypted with an old algorithm.
    package enum OldForm: Hashable, Sendable {
        /// A PKCS#12 archive.
        case archive
        /// A key in PEM.
        case key
    }

    /// What is wrong with a line of a trust store.
    package enum TrustStoreProblem: Error, Hashable, Sendable {
        case fieldCount
        case peerID
        case fingerprint
        case date
        case verification
        case name
        case duplicate
        case tooManyEntries
        case tooLarge
    }
}

extension SecurityFault: CustomStringConvertible {
    /// One line in lower case.
    package var description: String {
        switch self {
        case .peer(let violation): violation.description
        case .local(let problem): problem.description
        case .internal(let reason): "internal error: \(reason)"
        }
    }
}

extension SecurityFault.PeerViolation: CustomStringConvertible {
    /// One line in lower case.
    package var description: String {
        switch self {
        case .unexpectedCertificate: "the peer's certificate is not the one awaited"
        case .foreignKey: "the peer does not have the key of its id"
        case .noCertificate: "the peer presented no certificate"
        case .chainTooLong: "the peer's certificate chain is too long"
        case .malformedCertificate: "the peer's certificate cannot be read"
        case .weakKey: "the peer's key is too weak: it has less than 112 bits of security"
        case .wrongVersion: "the peer does not offer TLS 1.3"
        case .noCommonProtocol: "the peer does not use this protocol"
        case .notTLS: "the peer's first bytes are not TLS"
        case .notPlain: "the peer's first bytes are not the plain preface"
        case .badRecord: "the peer sent a record that cannot be decrypted"
        case .invalidPoint: "the peer sent a point that is not on the curve"
        case .truncated: "the connection ended without close_notify"
        case .alert(let alert): "the peer ended the channel: \(alert)"
        case .handshakeFailed(let reason): "handshake failed: \(reason)"
        }
    }
}

extension SecurityFault.LocalProblem: CustomStringConvertible {
    /// One line in lower case.
    package var description: String {
        switch self {
        case .unreadableIdentity(let reason): "not a readable identity (PEM or PKCS#12): \(reason)"
        case .oldEncryption(let form):
            "the identity is encrypted with an old algorithm that OpenSSL has switched off; convert it: \(form.conversion)"
        case .identityTooLarge: "the identity is too large"
        case .passphraseNeeded: "the identity is encrypted and no passphrase was given"
        case .wrongPassphrase: "the passphrase does not open the identity"
        case .noCertificateInFile: "the identity has no certificate"
        case .noKeyInFile: "the identity has no private key"
        case .keyMismatch: "the private key belongs to none of the certificates"
        case .brokenChain: "the certificates do not form one chain"
        case .chainTooLong: "the certificate chain is longer than 8 certificates or 16 KiB"
        case .unsupportedKey(let kind): "the key cannot be used: \(kind)"
        case .weakKey(let kind): "the key is too weak: \(kind) has less than 112 bits of security"
        case .certificateTooLarge: "a certificate of more than 4,096 bytes cannot join a mesh"
        case .malformedCertificate: "not a certificate"
        case .foreignIdentity:
            "the peer id is the hash of a key: it needs the identity with that key, and encryption"
        case .malformedTrustStore(let line, let problem): "trust store, line \(line): \(problem)"
        }
    }
}

extension SecurityFault.OldForm {
    /// The command that encrypts it with AES instead.
    var conversion: String {
        switch self {
        case .archive: "openssl pkcs12 -legacy -in OLD -aes256 -out NEW"
        // The certificates are not copied.
        case .key: "openssl pkey -provider legacy -provider default -in OLD -aes256 -out NEWKEY"
        }
    }
}

extension SecurityFault.TrustStoreProblem: CustomStringConvertible {
    /// One line in lower case.
    package var description: String {
        switch self {
        case .fieldCount: "a peer id, a fingerprint, two dates, how it was verified and a name are expected"
        case .peerID: "a peer id has 32 hexadecimal digits"
        case .fingerprint: "a fingerprint has 64 hexadecimal digits"
        case .date: "a date is like 2026-11-22, or -"
        case .verification: "how a peer was verified is code, id or fingerprint with a date, or - with -"
        case .name: "a name has at most 63 bytes, percent-encoded"
        case .duplicate: "the peer is already listed"
        case .tooManyEntries: "there are too many entries"
        case .tooLarge: "the text is too long"
        }
    }
}

extension SecurityFault.Alert: CustomStringConvertible {
    private static let names: [UInt8: String] = [
        0: "close notify", 10: "unexpected message", 20: "bad record mac", 22: "record overflow",
        40: "handshake failure", 42: "bad certificate", 43: "unsupported certificate",
        44: "certificate revoked", 45: "certificate expired", 46: "certificate unknown",
        47: "illegal parameter", 48: "unknown ca", 49: "access denied", 50: "decode error",
        51: "decrypt error", 70: "protocol version", 71: "insufficient security", 80: "internal error",
        86: "inappropriate fallback", 90: "user cancelled", 109: "missing extension",
        110: "unsupported extension", 112: "unrecognized name", 116: "certificate required",
        120: "no application protocol",
    ]

    /// One line in lower case.
    package var description: String { Self.names[rawValue] ?? "alert \(rawValue)" }
}
