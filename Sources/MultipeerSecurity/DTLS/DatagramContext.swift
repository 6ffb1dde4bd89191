import CLibSSL

/// What all DTLS channels share: the profile of Spec 10. It holds no key and no session state, so the whole process
/// shares one.
@safe
final class DatagramContext: Sendable {
    // Configured in init and then only passed to SSL_new, which libssl allows from any thread.
    nonisolated(unsafe) let pointer: OpaquePointer

    private static let silent = Result { () throws(SecurityFault) in try DatagramContext(isLogging: false) }
    private static let logging = Result { () throws(SecurityFault) in try DatagramContext(isLogging: true) }

    /// Returns the context for channels whose secrets are logged, or the one for all others: with a callback set, libssl
    /// would format every secret even if none is logged.
    static func shared(isLogging: Bool) throws(SecurityFault) -> DatagramContext {
        try (isLogging ? logging : silent).get()
    }

    /// The only cipher suite, by its OpenSSL name.
    static let suite = "ECDHE-PSK-CHACHA20-POLY1305"

    private init(isLogging: Bool) throws(SecurityFault) {
        OpenSSLErrors.clear()
        guard let pointer = unsafe SSL_CTX_new(DTLS_method()) else {
            throw .internal("no DTLS context: \(OpenSSLErrors.drain().text)")
        }
        unsafe self.pointer = pointer
        let done =
            unsafe multipeer_ctx_only_dtls12(pointer) == 1  // [dgram.profile]
            && SSL_CTX_set_cipher_list(pointer, Self.suite) == 1  // [dgram.profile]
            && multipeer_ctx_set_groups(pointer, "X25519:P-256") == 1
        guard done else { throw .internal("DTLS cannot be configured: \(OpenSSLErrors.drain().text)") }
        unsafe multipeer_ctx_set_cache_off(pointer)
        unsafe multipeer_ctx_set_modes(pointer)
        unsafe SSL_CTX_set_psk_client_callback(pointer, DatagramFlights.keyOfClient)  // [dgram.key]
        unsafe SSL_CTX_set_psk_server_callback(pointer, DatagramFlights.keyOfServer)  // [dgram.key]
        if isLogging { unsafe SSL_CTX_set_keylog_callback(pointer, DatagramFlights.log) }
    }

    deinit { unsafe SSL_CTX_free(pointer) }
}
