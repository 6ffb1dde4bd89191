import CLibSSL

/// OpenSSL's list of certificates, and the certificates in it.
@safe
struct CertificateStack: ~Copyable {
    let pointer: OpaquePointer

    /// Creates a new list. Returns nil when a certificate cannot be read.
    static func of(_ certificates: some Sequence<Certificate>) -> CertificateStack? {
        guard let stack = unsafe CertificateStack(owning: OPENSSL_sk_new_null()) else { return nil }
        for certificate in certificates where !stack.append(certificate) { return nil }
        return stack
    }

    /// Takes ownership of a list that OpenSSL made. Returns nil when `pointer` is nil.
    init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe CertificateStack.free(pointer) }

    /// Frees a list and its certificates.
    static func free(_ pointer: OpaquePointer) {
        unsafe OPENSSL_sk_pop_free(pointer) { unsafe X509_free(OpaquePointer($0)) }
    }

    /// Gives up the ownership of the list: the caller frees it.
    consuming func take() -> OpaquePointer {
        let taken = unsafe pointer
        discard self
        return unsafe taken
    }

    private borrowing func append(_ certificate: Certificate) -> Bool {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let one = DER.certificate(certificate.der), unsafe X509_up_ref(one.pointer) == 1 else {
            return false
        }
        guard unsafe OPENSSL_sk_push(pointer, UnsafeRawPointer(one.pointer)) > 0 else {
            unsafe X509_free(one.pointer)
            return false
        }
        return true
    }

    /// The certificates in the list; nil stands for one that cannot be read.
    var certificates: [Certificate?] {
        unsafe (0..<max(0, OPENSSL_sk_num(pointer))).map { index in
            guard let value = unsafe OPENSSL_sk_value(pointer, index) else { return nil }
            return unsafe Certificate(OpaquePointer(value))
        }
    }
}
