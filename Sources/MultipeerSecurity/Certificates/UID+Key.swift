import CLibSSL
import MultipeerCore

extension UID {
    /// Returns the keyed uid of the key in a certificate; nil when OpenSSL cannot encode the key. Spec 3.1.
    static func keyed(by certificate: OpaquePointer) -> UID? {  // [uid.keyed]
        let key = unsafe X509_get_X509_PUBKEY(certificate)
        guard let info = unsafe DER.encode({ unsafe i2d_X509_PUBKEY(key, $0) }) else { return nil }
        return .keyed(SHA256.hash(label + info))
    }

    private static let label = Array("MPC/1 uid".utf8)
}
