public import Foundation
public import MultipeerSecurity

/// A private key and its certificates, the counterpart of `SecIdentity` on Apple's systems.
///
/// ```swift
/// let identity = try MCIdentity(contentsOf: URL(fileURLWithPath: "ann.p12"), passphrase: "open sesame")
/// let session = MCSession(peer: ann, securityIdentity: [identity], encryptionPreference: .required)
/// ```
public struct MCIdentity: Sendable {
    /// The identity in the native API.
    public let native: Identity

    /// Creates an identity from one of the native API.
    public init(_ native: Identity) { self.native = native }

    /// Generates a P-256 key and a self-signed certificate, with a name of at most 64 characters in it.
    ///
    /// Without a name the certificate does not name its holder. Throws `MCError.invalidParameter` for a longer name.
    public static func generate(commonName: String = "") throws -> MCIdentity {
        try checking { () throws(SecurityFault) in try Identity.generated(commonName: commonName) }
    }

    /// Reads the certificates and the private key of a PEM text, in any order; the passphrase decrypts an encrypted key.
    ///
    /// Throws `MCError.invalidParameter`, whose text describes the problem, for anything that is not usable.
    public init(pem: Data, passphrase: String? = nil) throws {
        self = try MCIdentity.checking { () throws(SecurityFault) in
            try Identity(parsingPEM: [UInt8](pem), passphrase: passphrase)
        }
    }

    /// Reads a PKCS#12 archive (`.p12`, `.pfx`).
    ///
    /// Throws `MCError.invalidParameter`, whose text describes the problem, for anything that is not usable.
    public init(pkcs12: Data, passphrase: String = "") throws {
        self = try MCIdentity.checking { () throws(SecurityFault) in
            try Identity(parsingPKCS12: [UInt8](pkcs12), passphrase: passphrase)
        }
    }

    /// Reads a file of PEM or PKCS#12; the format is detected.
    ///
    /// Throws Foundation's error when the file cannot be read, and `MCError.invalidParameter` when it is not usable.
    public init(contentsOf url: URL, passphrase: String? = nil) throws {
        let file = [UInt8](try Data(contentsOf: url))
        self = try MCIdentity.checking { () throws(SecurityFault) in
            try Identity(parsing: file, passphrase: passphrase)
        }
    }

    /// The certificates, the leaf first, each one signed by the next.
    public var certificates: [MCCertificate] { native.chain.map { MCCertificate($0) } }

    /// Returns the certificates and the key as PEM text; the passphrase encrypts the key, and without one anyone can read it.
    public func pem(passphrase: String? = nil) throws -> Data {
        try MCError.checking { () throws(SecurityFault) in Data(try native.encodedPEM(passphrase: passphrase))
        }
    }

    /// Returns the certificates and the key as a PKCS#12 archive, encrypted with the passphrase.
    public func pkcs12(passphrase: String) throws -> Data {
        try MCError.checking { () throws(SecurityFault) in
            Data(try native.encodedPKCS12(passphrase: passphrase))
        }
    }

    private static func checking(_ body: () throws(SecurityFault) -> Identity) throws -> MCIdentity {
        MCIdentity(try MCError.checking(body))
    }
}

extension MCIdentity: CustomStringConvertible {
    /// The leaf's description, never the key.
    public var description: String { native.description }
}

extension MCIdentity {
    /// Returns the identity in an array for `securityIdentity`; nil in an empty one.
    static func native(_ array: [Any]?) -> Result<Identity?, MCError> {
        guard let array, let first = array.first else { return .success(nil) }
        guard let identity = first as? MCIdentity else {
            return .failure(.invalid("securityIdentity begins with an MCIdentity, not a \(type(of: first))"))
        }
        var issuers: [Certificate] = []
        for element in array.dropFirst() {
            guard let certificate = element as? MCCertificate else {
                return .failure(
                    .invalid("after the identity come MCCertificates, not a \(type(of: element))"))
            }
            issuers.append(certificate.native)
        }
        do throws(SecurityFault) {
            return .success(try identity.native.adding(issuers))
        } catch {
            return .failure(.invalid("the certificates are not a chain for the identity: \(error)"))
        }
    }
}
