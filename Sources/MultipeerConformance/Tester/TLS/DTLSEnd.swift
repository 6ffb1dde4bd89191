import CLibSSL

/// One end of a DTLS 1.2 connection with a key that both ends have, over two memory BIOs. Spec 10.4.
@safe
final class DTLSEnd {
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let secret: PSKCallbackContext
    private(set) var progress = TLSEnd.HandshakeProgress.underWay

    /// * `identity`: the name of the key.
    init(isServer: Bool, key: [UInt8], identity: String = "mpc/1") throws(SuiteFault) {
        guard let context = unsafe SSL_CTX_new(DTLS_method()) else { throw SuiteFault("no DTLS context") }
        secret = PSKCallbackContext(key, identity)
        guard unsafe multipeer_ctx_only_dtls12(context) == 1,
            unsafe SSL_CTX_set_cipher_list(context, "ECDHE-PSK-CHACHA20-POLY1305") == 1,
            let ssl = unsafe SSL_new(context), let input = unsafe BIO_new(BIO_s_mem()),
            let output = unsafe BIO_new(BIO_s_mem())
        else {
            unsafe SSL_CTX_free(context)
            throw SuiteFault("DTLS cannot be configured")
        }
        unsafe SSL_set_psk_client_callback(ssl, PSKCallbackContext.askClient)
        unsafe SSL_set_psk_server_callback(ssl, PSKCallbackContext.askServer)
        _ = unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(secret).toOpaque())
        unsafe SSL_set_bio(ssl, input, output)
        _ = unsafe multipeer_ssl_set_link_mtu(ssl, Datagram.longest - Datagram.headerCount)
        // 100 ms, then twice as long each time, up to 1.6 s.
        unsafe DTLS_set_timer_cb(ssl) { _, last in last == 0 ? 100_000 : min(2 * last, 1_600_000) }
        if isServer { unsafe SSL_set_accept_state(ssl) } else { unsafe SSL_set_connect_state(ssl) }
        unsafe (self.context, self.ssl, self.input, self.output) = (context, ssl, input, output)
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe SSL_CTX_free(context)
    }

    var suite: String? {
        guard let cipher = unsafe SSL_get_current_cipher(ssl),
            let name = unsafe SSL_CIPHER_standard_name(cipher)
        else { return nil }
        return unsafe String(cString: name)
    }

    /// Takes the body of one UDP payload.
    func take(_ body: [UInt8]) { _ = unsafe BIO_write(input, body, CInt(body.count)) }

    /// Returns the records to send, each for a datagram of its own.
    func drainOutput() -> [[UInt8]] {
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(output))
        guard !bytes.isEmpty else { return [] }
        _ = unsafe BIO_read(output, &bytes, CInt(bytes.count))
        var records: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count >= 13 {
            let start = rest.startIndex
            let count = 13 + Int(rest[start + 11]) << 8 + Int(rest[start + 12])
            records.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return records
    }

    func shakeHands() {
        guard progress == .underWay else { return }
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 {
            progress = .established
        } else if unsafe SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ {
            progress = .failed("DTLS handshake")
        }
    }

    /// Repeats the last flight, if it is due.
    func repeatFlight() {
        let handleTimeout: CInt = 74  // DTLS_CTRL_HANDLE_TIMEOUT
        _ = unsafe SSL_ctrl(ssl, handleTimeout, 0, nil)
    }

    /// Accepts other handshakes on the existing connection.
    func allowRenegotiation() { _ = unsafe SSL_clear_options(ssl, 1 << 30) }  // SSL_OP_NO_RENEGOTIATION

    /// Asks for another handshake, which no peer may accept.
    func renegotiate() {
        ERR_clear_error()
        allowRenegotiation()
        _ = unsafe SSL_renegotiate(ssl)
        _ = unsafe SSL_do_handshake(ssl)
    }

    /// Returns the contents that were received.
    func read() -> [[UInt8]] {
        var contents: [[UInt8]] = []
        while progress == .established {
            var bytes = [UInt8](repeating: 0, count: 16_384)
            var count = 0
            ERR_clear_error()
            guard unsafe SSL_read_ex(ssl, &bytes, bytes.count, &count) == 1 else { break }
            contents.append(Array(bytes.prefix(count)))
        }
        return contents
    }

    func write(_ content: [UInt8]) {
        ERR_clear_error()
        var count = 0
        _ = unsafe SSL_write_ex(ssl, content, content.count, &count)
    }
}

/// The key, for a C callback.
private final class PSKCallbackContext {
    let key: [UInt8]
    let identity: [UInt8]

    init(_ key: [UInt8], _ identity: String) { (self.key, self.identity) = (key, Array(identity.utf8) + [0]) }

    private static func of(_ ssl: OpaquePointer?) -> PSKCallbackContext? {
        guard let place = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<PSKCallbackContext>.fromOpaque(place).takeUnretainedValue()
    }

    private func put(_ bytes: [UInt8], _ place: UnsafeMutableRawPointer?, _ room: CUnsignedInt) -> Bool {
        guard bytes.count <= Int(room), let place = unsafe place else { return false }
        unsafe place.copyMemory(from: bytes, byteCount: bytes.count)
        return true
    }

    static let askClient: SSL_psk_client_cb_func = { ssl, _, identity, identityRoom, key, keyRoom in
        guard let secret = unsafe PSKCallbackContext.of(ssl),
            unsafe secret.put(secret.identity, identity, identityRoom),
            unsafe secret.put(secret.key, key, keyRoom)
        else { return 0 }
        return CUnsignedInt(secret.key.count)
    }

    static let askServer: SSL_psk_server_cb_func = { ssl, _, key, keyRoom in
        guard let secret = unsafe PSKCallbackContext.of(ssl), unsafe secret.put(secret.key, key, keyRoom)
        else {
            return 0
        }
        return CUnsignedInt(secret.key.count)
    }
}
