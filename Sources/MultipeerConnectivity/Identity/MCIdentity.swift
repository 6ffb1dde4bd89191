public import Foundation
public import MultipeerSecurity

/// A private key and the certificates that speak for it; what `SecIdentity` is on Apple's systems.
///
/// ```swift
/// let identity = try MCIdentity(contentsOf: URL(fileURLWithPath: "ann.p12"), passphrase: "open sesame")
/// let session = MCSession(peer: ann, securityIdentity: [identity], encryptionPreference: .required)
/// ```
public struct MCIdentity: Sendable {
    /// The identity in the native API.
    public let native: Identity

    /// The identity of the native API.
    public init(_ native: Identity) { self.native = native }

    /// Makes a fresh P-256 key and a certificate that it signs itself, with a name of at most 64 characters in it.
    ///
    /// Without a name the certificate says nothing of its holder. Throws `MCError.invalidParameter` for a longer name.
    public static func generate(commonName: String = "") throws -> MCIdentity {
        try checking { () throws(SecurityFault) in try Identity.generate(commonName: commonName) }
    }

    /// Reads the certificates and the private key of a PEM text, in any order; the passphrase opens an encrypted key.
    ///
    /// Throws `MCError.invalidParameter`, whose text says what is wrong, for anything that does not serve.
    public init(pem: Data, passphrase: String? = nil) throws {
        self = try MCIdentity.checking { () throws(SecurityFault) in
            try Identity(pem: [UInt8](pem), passphrase: passphrase)
        }
    }

    /// Reads a PKCS#12 archive (`.p12`, `.pfx`).
    ///
    /// Throws `MCError.invalidParameter`, whose text says what is wrong, for anything that does not serve.
    public init(pkcs12: Data, passphrase: String = "") throws {
        self = try MCIdentity.checking { () throws(SecurityFault) in
            try Identity(pkcs12: [UInt8](pkcs12), passphrase: passphrase)
        }
    }

    /// Reads a file of PEM or PKCS#12, whichever it is.
    ///
    /// Throws Foundation's error when the file cannot be read, and `MCError.invalidParameter` when it does not serve.
    public init(contentsOf url: URL, passphrase: String? = nil) throws {
        let file = [UInt8](try Data(contentsOf: url))
        self = try MCIdentity.checking { () throws(SecurityFault) in
            try Identity(file: file, passphrase: passphrase)
        }
    }

    /// The certificates, the leaf first, each one signed by the next.
    public var certificates: [MCCertificate] { native.chain.map { MCCertificate($0) } }

    /// The certificates and the key as PEM text; the passphrase encrypts the key, without one everybody can read it.
    public func pem(passphrase: String? = nil) throws -> Data {
        try MCError.checking { () throws(SecurityFault) in Data(try native.pem(passphrase: passphrase)) }
    }

    /// The certificates and the key as a PKCS#12 archive, encrypted with the passphrase.
    public func pkcs12(passphrase: String) throws -> Data {
        try MCError.checking { () throws(SecurityFault) in Data(try native.pkcs12(passphrase: passphrase)) }
    }

    private static func checking(_ body: () throws(SecurityFault) -> Identity) throws -> MCIdentity {
        MCIdentity(try MCError.checking(body))
    }
}

extension MCIdentity: CustomStringConvertible {
    /// The leaf's, never the key.
    public var description: String { native.description }
}

extension MCIdentity {
    /// What an array for `securityIdentity` stands for; ends the process when that is nothing.
    static func native(_ array: [Any]?) -> Identity? {
        guard let array, !array.isEmpty else { return nil }
        guard let identity = array[0] as? MCIdentity else {
            preconditionFailure(
                "MCSession: securityIdentity begins with an MCIdentity, not a \(type(of: array[0]))")
        }
        let issuers = array.dropFirst().map { element in
            guard let certificate = element as? MCCertificate else {
                preconditionFailure(
                    "MCSession: behind the identity come MCCertificates, not a \(type(of: element))")
            }
            return certificate.native
        }
        do throws(SecurityFault) {
            return try identity.native.adding(issuers)
        } catch {
            preconditionFailure("MCSession: the certificates are no chain of the identity's: \(error)")
        }
    }
}
