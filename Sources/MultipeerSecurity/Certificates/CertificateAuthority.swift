import CLibSSL

/// Checks a chain against roots: signatures, constraints, key sizes, and validity at a given time.
struct CertificateAuthority {
    let roots: [Certificate]

    func evaluate(_ evidence: TrustEvidence) -> TrustEvidence.Verdict {
        guard evidence.fingerprint != nil else { return .noKey }
        guard let leaf = evidence.chain.first, leaf.fingerprint == evidence.fingerprint else {
            return .distrusted(reason: "the peer has no identity")
        }
        if let reason = reject(evidence.chain, at: evidence.now) { return .distrusted(reason: reason) }
        return .trusted(.certified(subject: leaf.subject), remember: false)
    }

    /// Returns nil when the chain leads to one of the roots, otherwise the reason for the rejection.
    private func reject(_ chain: [Certificate], at now: Int64) -> String? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let leaf = DER.certificate(chain[0].der), let others = CertificateStack.of(chain.dropFirst()),
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
        // A listed authority is a trust anchor even when a higher one has signed it.
        _ = unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        // 112 bits: no SHA-1, no RSA below 2,048.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        if unsafe X509_verify_cert(check.pointer) == 1 { return nil }
        let error = unsafe X509_STORE_CTX_get_error(check.pointer)
        return unsafe String(cString: X509_verify_cert_error_string(Int(error)))
    }
}
