import CLibSSL
import Foundation
import MultipeerSecurity

/// A key and certificates of the tester, valid or wrong in any way that a case needs.
struct TLSIdentity: Sendable {
    /// DER of the leaf.
    let leaf: [UInt8]
    /// DER of the certificates that are sent after the leaf.
    var issuers: [[UInt8]] = []
    /// DER of the private key.
    var key: [UInt8]
    /// OpenSSL's number of the kind of key.
    private(set) var kind = EVP_PKEY_EC

    /// The fingerprint that connection data pins.
    var fingerprint: [UInt8] { SHA256.hash(leaf) }

    /// Creates a fresh P-256 key with a self-signed certificate.
    ///
    /// * `validity`: the dates, as ASN.1 writes them.
    /// * `padding`: bytes of a comment that makes the certificate larger.
    init(
        validity: (from: String, to: String) = ("20000101000000Z", "99991231235959Z"), padding: Int = 0
    ) throws(SuiteFault) {
        guard let made = unsafe Self.make(Self.makeKey(), validity, padding) else {
            throw SuiteFault("cannot create a certificate")
        }
        (leaf, key) = made
    }

    /// Creates an RSA key of this many bits with a self-signed certificate.
    init(rsaBits: CInt) throws(SuiteFault) {
        guard
            let made = unsafe Self.make(
                Self.makeRSAKey(rsaBits), ("20000101000000Z", "99991231235959Z"), 0)
        else { throw SuiteFault("cannot create an RSA certificate") }
        (leaf, key) = made
        kind = EVP_PKEY_RSA
    }

    /// Returns the same key with a new self-signed certificate.
    func renewed() throws(SuiteFault) -> TLSIdentity {
        let span = key.span
        let parsed = unsafe span.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &position, buffer.count)
        }
        guard let made = unsafe Self.make(parsed, ("20000101000000Z", "99991231235959Z"), 0) else {
            throw SuiteFault("cannot create a certificate")
        }
        var renewed = TLSIdentity(leaf: made.0, issuers: [], key: made.1)
        renewed.kind = kind
        return renewed
    }

    /// Creates an identity from an existing key and certificates.
    init(leaf: [UInt8], issuers: [[UInt8]], key: [UInt8]) {
        self.leaf = leaf
        self.issuers = issuers
        self.key = key
    }

    /// Returns the same certificate with a private key that does not belong to it, though it claims to.
    func withForeignKey() throws(SuiteFault) -> TLSIdentity {
        // RFC 5915: 30 77 02 01 01 04 20, the private key, parameters, then the public key.
        let foreign = try TLSIdentity()
        guard key.count > 39, foreign.key.count == key.count, key[5] == 4, key[6] == 32 else {
            throw SuiteFault("the private key is not written as expected")
        }
        var copy = self
        copy.key.replaceSubrange(7..<39, with: foreign.key[7..<39])
        return copy
    }

    func with(issuers: [[UInt8]]) -> TLSIdentity {
        var copy = self
        copy.issuers = issuers
        return copy
    }

    /// Key and certificates in the format of a PEM file.
    var pem: String {
        let blocks = [("EC PRIVATE KEY", key), ("CERTIFICATE", leaf)] + issuers.map { ("CERTIFICATE", $0) }
        return blocks.map { label, der in
            let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
        }.joined()
    }

    /// Takes over the key.
    private static func make(
        _ key: OpaquePointer?, _ validity: (from: String, to: String), _ padding: Int
    ) -> ([UInt8], [UInt8])? {
        guard let key = unsafe key, let certificate = unsafe X509_new() else { return nil }
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe X509_free(certificate)
        }
        let name = Array("conformance".utf8)
        let subject = unsafe X509_get_subject_name(certificate)
        let serial = UInt64.random(in: 1..<UInt64.max >> 1)
        guard unsafe X509_set_version(certificate, 2) == 1,
            unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1,
            unsafe ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), validity.from) == 1,
            unsafe ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), validity.to) == 1,
            unsafe X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_FLAG | 0, name, CInt(name.count), -1, 0)
                == 1,
            unsafe X509_set_issuer_name(certificate, subject) == 1,
            unsafe X509_set_pubkey(certificate, key) == 1,
            unsafe padding == 0 || pad(certificate, padding),
            unsafe X509_sign(certificate, key, EVP_sha256()) > 0,
            let leaf = unsafe encoded({ unsafe i2d_X509(certificate, $0) }),
            let secret = unsafe encoded({ unsafe i2d_PrivateKey(key, $0) })
        else { return nil }
        return (leaf, secret)
    }

    private static func makeKey() -> OpaquePointer? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_generate(context, &key) == 1
        else { return nil }
        return unsafe key
    }

    private static func makeRSAKey(_ bits: CInt) -> OpaquePointer? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            unsafe EVP_PKEY_generate(context, &key) == 1
        else { return nil }
        return unsafe key
    }

    private static func pad(_ certificate: OpaquePointer, _ count: Int) -> Bool {
        let text = String(repeating: "x", count: count)
        guard let comment = unsafe X509V3_EXT_conf_nid(nil, nil, NID_netscape_comment, text) else {
            return false
        }
        defer { unsafe X509_EXTENSION_free(comment) }
        return unsafe X509_add_ext(certificate, comment, -1) == 1
    }

    private static func encoded(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt
    ) -> [UInt8]? {
        let size = encode(nil)
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe encode(&position)
        }
        return written == size ? bytes : nil
    }
}
