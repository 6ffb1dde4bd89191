import CLibSSL

/// Checks a chain against roots: signatures, constraints, key sizes, purposes and validity at a given time; and whether
/// the leaf names the peer. Spec 5.4.
struct CertificateAuthority {
    let roots: [Certificate]
    /// Whether any peer with a certificate is trusted, even if the certificate names another peer.
    let acceptsAnyMember: Bool

    func evaluate(_ evidence: TrustEvidence) -> TrustEvidence.Verdict {
        guard evidence.fingerprint != nil else { return .noKey }
        guard let first = evidence.chain.first, first.fingerprint == evidence.fingerprint else {
            return .distrusted(reason: "the peer has no identity")
        }
        guard let leaf = DER.certificate(first.der) else {
            return .distrusted(reason: "the peer's certificate cannot be read")
        }
        // The subject is one line of printable ASCII.
        let subject = "the certificate of \(first.subject)"
        if let objection = unsafe CertificatePurpose.objection(to: leaf.pointer) {  // [trust.purpose]
            return .distrusted(reason: "\(subject) \(objection)")
        }
        for purpose in [X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER] {
            if let reason = reject(leaf, evidence.chain.dropFirst(), for: purpose, at: evidence.now) {
                return .distrusted(reason: "\(subject): \(reason)")
            }
        }
        let names = unsafe CertificateNames(leaf.pointer)
        let isNamed = names?.binding(of: evidence.peer, named: evidence.name) != nil  // [trust.named]
        guard isNamed || acceptsAnyMember else {
            return .distrusted(reason: "\(subject) names neither the peer's id nor its display name")
        }
        return .trusted(.certified(subject: first.subject, namesPeer: isNamed), remember: false)
    }

    /// Returns nil when the chain leads to one of the roots, otherwise the reason for the rejection.
    private func reject(
        _ leaf: borrowing OwnedPointer, _ issuers: ArraySlice<Certificate>, for purpose: CInt, at now: Int64
    ) -> String? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let others = CertificateStack.of(issuers),
            let store = unsafe OwnedPointer(X509_STORE_new(), X509_STORE_free),
            let check = unsafe OwnedPointer(X509_STORE_CTX_new(), X509_STORE_CTX_free)
        else { return "no memory" }
        for root in roots {
            guard let root = DER.certificate(root.der),
                unsafe X509_STORE_add_cert(store.pointer, root.pointer) == 1
            else { return "a root certificate cannot be read" }
        }
        guard unsafe X509_STORE_CTX_init(check.pointer, store.pointer, leaf.pointer, others.pointer) == 1
        else {
            return "no memory"
        }
        let parameters = unsafe X509_STORE_CTX_get0_param(check.pointer)
        unsafe X509_VERIFY_PARAM_set_time(parameters, Int(now))
        // Every issuer has to permit the purpose, too.
        _ = unsafe X509_VERIFY_PARAM_set_purpose(parameters, purpose)
        // A listed authority is a trust anchor even when a higher one has signed it.
        _ = unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        // 112 bits: no SHA-1, no RSA below 2,048.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        if unsafe X509_verify_cert(check.pointer) == 1 { return nil }
        let error = unsafe X509_STORE_CTX_get_error(check.pointer)
        return unsafe String(cString: X509_verify_cert_error_string(Int(error)))
    }
}
