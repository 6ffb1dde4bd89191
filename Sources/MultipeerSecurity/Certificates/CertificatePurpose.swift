import CLibSSL

/// What a certificate may be used for, according to its extensions. Spec 5.4.
enum CertificatePurpose {
    /// Returns why a peer cannot present this certificate as its own; nil when it can.
    ///
    /// Which of two peers is the TLS client is decided by addresses and by chance. So a certificate that is restricted to
    /// some purposes needs both, that of a client and that of a server: otherwise the decision would depend on who dialled.
    static func objection(to leaf: OpaquePointer) -> String? {
        guard unsafe X509_check_ca(leaf) == 0, unsafe X509_get_extension_flags(leaf) & UInt32(EXFLAG_CA) == 0
        else { return "is that of an authority" }
        // Both are all ones when the extension is absent.
        guard unsafe X509_get_key_usage(leaf) & UInt32(KU_DIGITAL_SIGNATURE) != 0 else {
            return "is not for digital signatures"
        }
        let both = UInt32(XKU_SSL_CLIENT | XKU_SSL_SERVER)
        guard unsafe X509_get_extended_key_usage(leaf) & both == both else {
            return "is not for both clients and servers"
        }
        return nil
    }
}
