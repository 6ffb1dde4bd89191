import CLibSSL

/// The profile of Spec 5.3 as libssl's context. It holds no identity, no pins and no state of sessions, so that the whole process
/// shares one: making it takes libssl longer than making a key.
@safe
final class TLSProfile: Sendable {
    // Configured in init and then only passed to SSL_new, which libssl allows from any thread.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// Retained because the key log callback reaches it through the context.
    private let keyLog: KeyLogSink

    static let shared = Result { () throws(SecurityFault) in try TLSProfile(nil) }

    /// Creates a profile whose connections log their secrets to `keyLog`, unless it is nil.
    init(_ keyLog: KeyLog?) throws(SecurityFault) {
        OpenSSLErrors.clear()
        guard let pointer = unsafe SSL_CTX_new(TLS_method()) else {
            throw .internal("no TLS context: \(OpenSSLErrors.drain().text)")
        }
        unsafe self.pointer = pointer
        self.keyLog = KeyLogSink(keyLog)
        try configure()
        if keyLog != nil { logKeys() }
    }

    deinit { unsafe SSL_CTX_free(pointer) }

    private func configure() throws(SecurityFault) {
        let done =
            unsafe multipeer_ctx_only_tls13(pointer) == 1  // [tls.version]
            && SSL_CTX_set_ciphersuites(pointer, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1
            && setGroups()  // [tls.suites]
            && SSL_CTX_set_num_tickets(pointer, 0) == 1  // [tls.no-resumption]
            && SSL_CTX_set_max_early_data(pointer, 0) == 1
        guard done else { throw .internal("TLS cannot be configured: \(OpenSSLErrors.drain().text)") }
        unsafe multipeer_ctx_set_cache_off(pointer)  // [tls.no-resumption]
        unsafe multipeer_ctx_set_modes(pointer)
        unsafe multipeer_ctx_set_no_retry(pointer)  // [tls.messages]
        // [chain.limit]
        unsafe multipeer_ctx_set_max_cert_list(pointer, TLSVerifier.largestCertificateMessage)
        unsafe SSL_CTX_set_verify(
            pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)  // [tls.client-certificate]
        unsafe SSL_CTX_set_cert_verify_callback(pointer, TLSVerifier.verify, nil)  // [tls.pin]
        unsafe SSL_CTX_set_client_hello_cb(pointer, TLSVerifier.judgeClientHello, nil)  // [tls.alpn]
        unsafe SSL_CTX_set_alpn_select_cb(pointer, TLSVerifier.selectProtocol, nil)  // [tls.alpn]
    }

    /// The hybrid group comes first where libssl has it, since version 3.5; `*` sends a key share for X25519, too, so that
    /// an older peer needs no second round trip.
    private func setGroups() -> Bool {
        if unsafe multipeer_ctx_set_groups(pointer, "*X25519MLKEM768:*X25519:P-256") == 1 { return true }
        OpenSSLErrors.clear()
        return unsafe multipeer_ctx_set_groups(pointer, "X25519:P-256") == 1
    }

    private func logKeys() {
        unsafe SSL_CTX_set_ex_data(pointer, 0, Unmanaged.passUnretained(keyLog).toOpaque())
        unsafe SSL_CTX_set_keylog_callback(pointer) { ssl, line in
            guard let line = unsafe line, let data = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0)
            else {
                return
            }
            let sink = unsafe Unmanaged<KeyLogSink>.fromOpaque(data).takeUnretainedValue()
            sink.log?.write(unsafe String(cString: line))
        }
    }
}

/// A key log that a C callback can reach.
private final class KeyLogSink: Sendable {
    let log: KeyLog?
    init(_ log: KeyLog?) { self.log = log }
}
