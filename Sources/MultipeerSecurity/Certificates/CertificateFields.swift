import CLibSSL
import MultipeerCore

/// The fields of a certificate, read from OpenSSL's object.
struct CertificateFields {
    let subject: String
    let issuer: String
    let notBefore: Int64
    let notAfter: Int64
    let keyDescription: String
    let isSelfSigned: Bool
    let keyedUID: UID

    /// `isSelfSigned`: whether it is known to be signed with its own key, so that this is not verified.
    init?(_ certificate: OpaquePointer, isSelfSigned: Bool = false) {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let notBefore = unsafe Self.seconds(X509_get0_notBefore(certificate)),
            let notAfter = unsafe Self.seconds(X509_get0_notAfter(certificate)),
            let keyedUID = unsafe UID.keyed(by: certificate)
        else { return nil }
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.keyedUID = keyedUID
        subject = unsafe Self.name(X509_get_subject_name(certificate))
        issuer = unsafe Self.name(X509_get_issuer_name(certificate))
        keyDescription = unsafe Self.key(X509_get0_pubkey(certificate))
        self.isSelfSigned = unsafe isSelfSigned || X509_self_signed(certificate, 1) == 1
    }

    /// Returns the name on one line; control characters, quotes and everything beyond ASCII are escaped.
    private static func name(_ name: OpaquePointer?) -> String {
        guard let name = unsafe name, let memory = MemoryBIO() else { return "" }
        let flags = multipeer_name_flags()
        _ = unsafe X509_NAME_print_ex(memory.bio, name, 0, flags)
        return String(decoding: memory.contents(), as: UTF8.self)
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
        defer { unsafe ASN1_TIME_free(epoch) }
        var days: CInt = 0
        var seconds: CInt = 0
        guard let time = unsafe time, unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
            return nil
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    static func key(_ key: OpaquePointer?) -> String {
        guard let key = unsafe key else { return "unknown" }
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return unsafe "RSA-\(EVP_PKEY_get_bits(key))"
        case EVP_PKEY_ED25519: return "Ed25519"
        case EVP_PKEY_ED448: return "Ed448"
        case EVP_PKEY_EC: return unsafe curve(of: key)
        default: return "unknown"
        }
    }

    private static func curve(of key: OpaquePointer) -> String {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return "EC" }
        // No dictionary: for the first of a process with these types, Swift searches all of the program's conformances.
        return switch String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) {
        case "prime256v1": "P-256"
        case "secp384r1": "P-384"
        case "secp521r1": "P-521"
        case let other: "EC \(other)"
        }
    }
}
