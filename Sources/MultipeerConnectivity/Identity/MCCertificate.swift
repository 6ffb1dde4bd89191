public import Foundation
public import MultipeerSecurity

/// An X.509 certificate, the counterpart of `SecCertificate` on Apple's systems.
public struct MCCertificate: Hashable, Sendable {
    /// The certificate in the native API, with its names, dates and fingerprint.
    public let native: Certificate

    /// Creates a certificate from one of the native API.
    public init(_ native: Certificate) { self.native = native }

    /// Reads a certificate in DER.
    ///
    /// Throws `MCError.invalidParameter` when the bytes are not exactly one certificate.
    public init(der: Data) throws {
        native = try MCError.checking { () throws(SecurityFault) in try Certificate(parsing: [UInt8](der)) }
    }

    /// Reads all certificates of a PEM text, in order; other blocks are skipped.
    ///
    /// Throws `MCError.invalidParameter` when one of them is damaged.
    public static func all(inPEM pem: Data) throws -> [MCCertificate] {
        try MCError.checking { () throws(SecurityFault) in
            try Identity.certificates(inPEM: [UInt8](pem)).map { MCCertificate($0) }
        }
    }

    /// The certificate in DER.
    public var der: Data { Data(native.der) }

    /// The certificate as PEM text.
    public var pem: Data { Data(native.pem) }
}

extension MCCertificate: CustomStringConvertible {
    /// The subject, kind of key and fingerprint, on one line.
    public var description: String { native.description }
}
