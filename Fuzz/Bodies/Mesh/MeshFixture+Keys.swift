package import MultipeerCore
package import MultipeerFraming
import MultipeerHandshake
package import MultipeerSecurity

// Signatures that cost nothing. A certificate is any bytes, and everyone could sign with it.
extension MeshFixture {
    /// Returns a certificate of this endpoint; it has several, of different keys.
    package static func certificate(of endpoint: Endpoint, key: Int = 0) -> [UInt8] {
        endpoint.uid.bytes + [UInt8(truncatingIfNeeded: endpoint.instance), UInt8(truncatingIfNeeded: key)]
    }

    package static func fingerprint(of endpoint: Endpoint, key: Int = 0) -> Fingerprint? {
        Fingerprint(SHA256.hash(certificate(of: endpoint, key: key)))
    }

    /// Signs as this endpoint.
    package static func signer(of endpoint: Endpoint, key: Int = 0) -> Signer {
        let certificate = certificate(of: endpoint, key: key)
        return Signer(certificate: certificate) { sign($0, with: certificate) }
    }

    package static let verifier = SignatureVerifier { certificate in
        let uid = SignatureVerifier.standard.key(of: certificate)?.keyedUID
        return VerificationKey(keyedUID: uid) { signature, message in
            signature == sign(message, with: certificate)
        }
    }

    private static func sign(_ message: [UInt8], with certificate: [UInt8]) -> [UInt8] {
        SHA256.hash(certificate + message)
    }

    /// Returns the entry with the certificate and the signature of this endpoint.
    package static func signed(_ entry: Members, by endpoint: Endpoint, key: Int = 0) -> Members {
        var entry = entry
        let signer = signer(of: endpoint, key: key)
        entry.certificate = signer.certificate
        entry.signature = signer.sign(entry.signedBytes) ?? []
        return entry
    }
}
