import CLibSSL
import MultipeerSecurity

enum TLSVersion {
    static let old = TLS1_2_VERSION
}

/// Certificates that no honest peer makes.
enum LargeCertificate {
    struct Failure: Error {}

    /// Returns the DER of an unsigned certificate with a name that fills it.
    static func make(ofAtLeast size: Int) throws -> [UInt8] {
        let der = try Identity.generated().chain[0].der
        return try unsafe der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let certificate = unsafe d2i_X509(nil, &position, buffer.count) else { throw Failure() }
            defer { unsafe X509_free(certificate) }
            let text = [UInt8](repeating: 0x41, count: 60)
            for _ in 0..<(size / 60) {
                unsafe X509_NAME_add_entry_by_txt(
                    X509_get_subject_name(certificate), "OU", CInt(4096) | 1, text, CInt(text.count), -1, 0)
            }
            var encoded: UnsafeMutablePointer<UInt8>?
            let count =
                unsafe i2d_re_X509_tbs(certificate, nil) > 0 ? unsafe i2d_X509(certificate, &encoded) : 0
            guard count > size else { throw Failure() }
            defer { unsafe CRYPTO_free(encoded, nil, 0) }
            return unsafe Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
        }
    }
}
