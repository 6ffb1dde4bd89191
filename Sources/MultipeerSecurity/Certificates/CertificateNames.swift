import CLibSSL
import MultipeerCore

/// The names in a certificate that say which peer it belongs to: uids in the subject alternative name, else its other
/// names and the common name. Spec 5.4.
struct CertificateNames {
    /// How a certificate names a peer.
    enum Binding: Equatable {
        case uid
        case displayName
    }

    /// The uids in URIs of the form `urn:uuid:…`; nil for such a URI that is no UUID.
    private var uids: [UID?] = []
    /// DNS names and UTF-8 names of the subject alternative name, then the common name, in UTF-8.
    private var names: [[UInt8]] = []

    /// Reads the names; returns nil when the certificate has an alternative name that cannot be read.
    init?(_ certificate: OpaquePointer) {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        var criticality: CInt = 0
        let extensionData = unsafe X509_get_ext_d2i(certificate, NID_subject_alt_name, &criticality, nil)
        if let list = OpaquePointer(extensionData) {
            unsafe addAlternativeNames(list)
            unsafe OPENSSL_sk_pop_free(list) {
                unsafe GENERAL_NAME_free($0?.assumingMemoryBound(to: GENERAL_NAME.self))
            }
        } else if criticality != -1 {  // -1: there is none.
            return nil
        }
        unsafe addCommonName(X509_get_subject_name(certificate))
    }

    /// Returns how the certificate names the peer; nil when it does not. A certificate that has a uid names the peer by
    /// nothing else.
    func binding(of peer: UID, named displayName: String) -> Binding? {
        guard uids.isEmpty else { return uids.contains(peer) ? .uid : nil }
        return names.contains(Array(displayName.utf8)) ? .displayName : nil
    }

    private mutating func addAlternativeNames(_ list: OpaquePointer) {
        for index in unsafe 0..<max(0, OPENSSL_sk_num(list)) {
            guard let value = unsafe OPENSSL_sk_value(list, index) else { continue }
            let name = unsafe value.assumingMemoryBound(to: GENERAL_NAME.self).pointee
            switch unsafe name.type {
            case GEN_URI: unsafe addURI(Self.bytes(of: name.d.uniformResourceIdentifier))
            case GEN_DNS: unsafe names.append(Self.bytes(of: name.d.dNSName))
            case GEN_OTHERNAME:
                guard let value = unsafe name.d.otherName.pointee.value,
                    unsafe value.pointee.type == V_ASN1_UTF8STRING
                else { continue }
                unsafe names.append(Self.bytes(of: value.pointee.value.utf8string))
            default: continue
            }
        }
    }

    private mutating func addURI(_ uri: [UInt8]) {
        let text = String(decoding: uri, as: UTF8.self).lowercased()
        guard text.begins(with: Self.scheme) else { return }
        uids.append(UID(urn: text))
    }

    /// The last common name is the most specific one.
    private mutating func addCommonName(_ subject: OpaquePointer?) {
        var last: CInt = -1
        while case let next = unsafe X509_NAME_get_index_by_NID(subject, NID_commonName, last), next >= 0 {
            last = next
        }
        guard last >= 0 else { return }
        var text: UnsafeMutablePointer<UInt8>?
        let value = unsafe X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, last))
        let count = unsafe ASN1_STRING_to_UTF8(&text, value)
        guard count >= 0, let start = unsafe text else { return }
        unsafe names.append(Array(UnsafeBufferPointer(start: start, count: Int(count))))
        unsafe CRYPTO_free(start, nil, 0)
    }

    private static func bytes(of string: UnsafeMutablePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string = unsafe string else { return [] }
        return unsafe Array(
            UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }

    fileprivate static let scheme = "urn:uuid:"
}

extension UID {
    /// The uid as a URN (RFC 9562, section 4), in lower case: the form in which a certificate names it.
    package var urn: String {
        let digits = Hex.encode(bytes)
        var parts: [Substring] = []
        var rest = digits[...]
        for count in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return CertificateNames.scheme + parts.joined(separator: "-")
    }

    /// Reads a URN in lower case.
    fileprivate init?(urn: String) {
        let digits = urn.dropFirst(CertificateNames.scheme.count).utf8.filter { $0 != UInt8(ascii: "-") }
        guard let bytes = Hex.decode(Array(digits)), let uid = UID(bytes), uid.urn == urn else { return nil }
        self = uid
    }
}
