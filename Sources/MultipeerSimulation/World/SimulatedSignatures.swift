import MultipeerCore
import MultipeerSecurity

/// Signatures without public-key cryptography: fast, and the same in each run. A certificate is any bytes; the signature is
/// a MAC that everyone can compute and only the holder of the certificate does. The keyed uid of a certificate is its first 16
/// bytes, so that uids have the order that a scenario wants.
enum SimulatedSignatures {
    static func signer(_ certificate: [UInt8]) -> Signer {
        Signer(certificate: certificate) { sign($0, with: certificate) }
    }

    static let verifier = SignatureVerifier { certificate in
        VerificationKey(keyedUID: keyedUID(of: certificate)) { signature, message in
            signature == sign(message, with: certificate)
        }
    }

    static func keyedUID(of certificate: [UInt8]) -> UID? { .keyed(certificate) }

    private static func sign(_ message: [UInt8], with certificate: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: certificate, message)
    }
}
