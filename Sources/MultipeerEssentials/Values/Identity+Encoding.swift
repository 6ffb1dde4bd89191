public import MultipeerCore
public import MultipeerSecurity
public import MultipeerTransport

extension Identity {
    /// Reads PEM or PKCS#12, detecting the format.
    ///
    /// - Parameters:
    ///   - file: The contents of the file.
    ///   - passphrase: Decrypts an encrypted key or archive.
    /// - Throws: `passphrase` when the file is encrypted and the passphrase is missing or wrong, and `identity`, whose text
    ///   describes what is wrong with the file.
    public init(file: [UInt8], passphrase: String? = nil) throws(MultipeerError) {
        self = try MultipeerError.checking { () throws(SecurityFault) in
            try Identity(parsing: file, passphrase: passphrase)
        }
    }

    /// Reads the certificates and the private key of a PEM text, in any order.
    ///
    /// - Parameters:
    ///   - pem: The text; anything that is neither a certificate nor a key is skipped.
    ///   - passphrase: Decrypts an encrypted key.
    /// - Throws: `passphrase` when the key is encrypted and the passphrase is missing or wrong, and `identity`, whose text
    ///   describes what is wrong with the text.
    public init(pem: [UInt8], passphrase: String? = nil) throws(MultipeerError) {
        self = try MultipeerError.checking { () throws(SecurityFault) in
            try Identity(parsingPEM: pem, passphrase: passphrase)
        }
    }

    /// Reads a PKCS#12 archive (`.p12`, `.pfx`).
    ///
    /// - Parameters:
    ///   - pkcs12: The archive.
    ///   - passphrase: Decrypts it; may be empty.
    /// - Throws: `passphrase` when it is wrong, and `identity`, whose text describes what is wrong with the archive.
    public init(pkcs12: [UInt8], passphrase: String) throws(MultipeerError) {
        self = try MultipeerError.checking { () throws(SecurityFault) in
            try Identity(parsingPKCS12: pkcs12, passphrase: passphrase)
        }
    }

    /// Generates a fresh P-256 key and a self-signed certificate.
    ///
    /// The certificate reveals nothing about its holder: a fixed name unless one is given, a random serial number, and dates that
    /// reveal neither the time of creation nor the state of a clock.
    ///
    /// - Parameter commonName: The name in the certificate, at most 64 characters; empty for the fixed one.
    /// - Returns: An identity with a chain of one certificate.
    /// - Throws: `identity` when the name is too long, or OpenSSL fails.
    public static func generate(commonName: String = "") throws(MultipeerError) -> Identity {
        try MultipeerError.checking { () throws(SecurityFault) in
            try Identity.generated(commonName: commonName)
        }
    }

    /// Encodes the certificates and the private key as PEM text.
    ///
    /// - Parameter passphrase: Encrypts the key with AES-256 and scrypt; without one the key is not encrypted.
    /// - Returns: The chain, leaf first, then the key in PKCS#8.
    /// - Throws: `identity` when OpenSSL fails.
    public func pem(passphrase: String? = nil) throws(MultipeerError) -> [UInt8] {
        try MultipeerError.checking { () throws(SecurityFault) in try encodedPEM(passphrase: passphrase) }
    }

    /// Encodes a request (PKCS#10) for a certificate of this identity's key that names a peer, for an authority to sign.
    ///
    /// - Parameters:
    ///   - commonName: The peer's display name, at most 64 characters.
    ///   - uid: The peer's uid, which the certificate is to bind; nil for a certificate that binds the name alone.
    /// - Returns: The request as PEM text. It asks for the purposes that `TrustPolicy.certificateAuthority` requires.
    /// - Throws: `identity` when OpenSSL fails, or the name is too long.
    public func certificateRequest(commonName: String, uid: UID?) throws(MultipeerError) -> [UInt8] {
        try MultipeerError.checking { () throws(SecurityFault) in
            try encodedRequest(commonName: commonName, uid: uid)
        }
    }

    /// Encodes the identity as a PKCS#12 archive, encrypted with AES-256.
    ///
    /// - Parameter passphrase: Encrypts the archive.
    /// - Returns: The archive, in DER.
    /// - Throws: `identity` when OpenSSL fails.
    public func pkcs12(passphrase: String) throws(MultipeerError) -> [UInt8] {
        try MultipeerError.checking { () throws(SecurityFault) in try encodedPKCS12(passphrase: passphrase) }
    }
}
