import CLibSSL

/// One end of a TLS connection over two memory BIOs, as strict or as careless as a case needs it.
///
/// The library's own `SecureChannel` keeps the rules of the specification; this one must be able to break them.
@safe
final class TLSEnd {
    /// How the end behaves.
    struct Setup {
        var isServer = false
        /// Nil: shows no certificate.
        var identity: TLSIdentity?
        var lowest = Version.tls13
        var highest = Version.tls13
        /// Offered as client; the first is chosen as server, whatever was offered. Empty: none.
        var protocols = ["mpc/1"]
        /// Groups and suites, as OpenSSL lists them; nil for its own.
        var groups: String?
        var suites: String?
        /// Sent as client.
        var serverName: String?
        /// Session tickets that a server hands out.
        var tickets = 0
        /// Whether the handshake fails if no name of `protocols` is agreed on.
        var needsProtocol = false
        /// Whether a server fails the handshake if the client shows no certificate.
        var needsCertificate = false
        /// Whether a server asks the client for its certificate.
        var asksForCertificate = true
        /// Whether a server refuses a client that offers anything but the name, before it shows its certificate.
        var judgesOffer = false
        /// Whether keys with less than 112 bits of security are refused.
        var needsStrongKeys = false
        /// Whether certificates that are not valid today are refused.
        var checksDates = false
        /// Judges the other end's certificates (DER, leaf first) while the handshake runs; nil: takes any.
        var verify: (([[UInt8]]) -> Bool)?
    }

    enum Version: CInt {
        case tls12 = 0x0303
        case tls13 = 0x0304
    }

    /// The progress of the handshake.
    enum HandshakeProgress: Equatable {
        case underWay
        case established
        case failed(String)
    }

    /// The result of a read.
    enum PlaintextRead {
        case bytes([UInt8])
        case nothing
        case closed
        case failed(String)
    }

    /// The groups of the table in 5.3.
    static let listedGroups = "X25519:P-256"

    private let context: OpaquePointer
    let ssl: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let choice: TLSCallbackContext
    private(set) var progress = HandshakeProgress.underWay

    init(_ setup: Setup) throws(SuiteFault) {
        guard let context = unsafe SSL_CTX_new(TLS_method()) else { throw SuiteFault("no TLS context") }
        choice = TLSCallbackContext(setup)
        guard unsafe TLSEnd.configure(context, setup, choice), let ssl = unsafe SSL_new(context),
            let input = unsafe BIO_new(BIO_s_mem()), let output = unsafe BIO_new(BIO_s_mem())
        else {
            unsafe SSL_CTX_free(context)
            throw SuiteFault("TLS cannot be configured: \(TLSEnd.drain())")
        }
        unsafe SSL_set_bio(ssl, input, output)
        unsafe SSL_set_msg_callback(ssl, TLSCallbackContext.note)
        let place = unsafe Unmanaged.passUnretained(choice).toOpaque()
        _ = unsafe SSL_ctrl(ssl, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, place)
        if let name = setup.serverName, !setup.isServer {
            var text = Array(name.utf8CString)
            _ = unsafe SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &text)
        }
        if setup.isServer { unsafe SSL_set_accept_state(ssl) } else { unsafe SSL_set_connect_state(ssl) }
        unsafe (self.context, self.ssl, self.input, self.output) = (context, ssl, input, output)
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe SSL_CTX_free(context)
    }

    private static func configure(_ context: OpaquePointer, _ setup: Setup, _ choice: TLSCallbackContext)
        -> Bool
    {
        ERR_clear_error()
        let offer = setup.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        let versions =
            unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(setup.lowest.rawValue), nil) == 1
            && SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(setup.highest.rawValue), nil) == 1
        guard versions, unsafe SSL_CTX_set_num_tickets(context, setup.tickets) == 1 else { return false }
        if setup.tickets == 0 { _ = unsafe SSL_CTX_set_options(context, 1 << 14) }  // SSL_OP_NO_TICKET
        unsafe SSL_CTX_set_security_level(context, 0)
        if let groups = setup.groups {
            var text = Array(groups.utf8CString)
            guard unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, &text) == 1 else { return false }
        }
        if let suites = setup.suites {
            guard unsafe SSL_CTX_set_ciphersuites(context, suites) == 1 else { return false }
        }
        let need = setup.needsCertificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
        let mode = setup.asksForCertificate ? SSL_VERIFY_PEER | need : SSL_VERIFY_NONE
        unsafe SSL_CTX_set_verify(context, mode, nil)
        let place = unsafe Unmanaged.passUnretained(choice).toOpaque()
        unsafe SSL_CTX_set_cert_verify_callback(context, TLSCallbackContext.judge, place)
        if !setup.isServer, !offer.isEmpty {
            guard unsafe SSL_CTX_set_alpn_protos(context, offer, CUnsignedInt(offer.count)) == 0 else {
                return false
            }
        }
        if setup.isServer {
            let place = unsafe Unmanaged.passUnretained(choice).toOpaque()
            unsafe SSL_CTX_set_alpn_select_cb(context, TLSCallbackContext.select, place)
            if setup.judgesOffer {
                unsafe SSL_CTX_set_client_hello_cb(context, TLSCallbackContext.judgeOffer, place)
            }
        }
        guard let identity = setup.identity else { return true }
        return unsafe show(identity, context)
    }

    private static func show(_ identity: TLSIdentity, _ context: OpaquePointer) -> Bool {
        let leaf = identity.leaf
        let isShown =
            unsafe SSL_CTX_use_certificate_ASN1(context, CInt(leaf.count), leaf) == 1
            && SSL_CTX_use_PrivateKey_ASN1(identity.kind, context, identity.key, identity.key.count) == 1
        guard isShown else { return false }
        for issuer in identity.issuers {
            let span = issuer.span
            let certificate = unsafe span.withUnsafeBufferPointer { buffer -> OpaquePointer? in
                var position = buffer.baseAddress
                return unsafe d2i_X509(nil, &position, buffer.count)
            }
            guard let certificate = unsafe certificate else { return false }
            let raw = unsafe UnsafeMutableRawPointer(certificate)
            guard unsafe SSL_CTX_ctrl(context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, raw) == 1 else { return false }
        }
        return true
    }

    /// Returns OpenSSL's text for the errors in its queue, which is empty afterwards.
    private static func drain() -> String {
        var words: [String] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return words.isEmpty ? "the connection ended" : words.joined(separator: "; ") }
            guard let text = unsafe ERR_reason_error_string(code) else { continue }
            unsafe words.append(String(cString: text))
        }
    }
}

// MARK: - Bytes

extension TLSEnd {
    /// Takes bytes from the network.
    func take(_ bytes: [UInt8]) { _ = unsafe BIO_write(input, bytes, CInt(bytes.count)) }

    /// Returns the bytes to send.
    func drainOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(output))
        guard !bytes.isEmpty else { return [] }
        let count = unsafe BIO_read(output, &bytes, CInt(bytes.count))
        return Array(bytes.prefix(max(0, Int(count))))
    }

    func shakeHands() {
        guard progress == .underWay else { return }
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 {
            // A client that got no name in the answer has agreed on none.
            let isAgreed = !choice.needsProtocol || chosenProtocol == choice.word
            progress = isAgreed ? .established : .failed("no ALPN name is agreed on")
        } else if unsafe SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ {
            progress = .failed(TLSEnd.drain())
        }
    }

    func read() -> PlaintextRead {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        var count = 0
        ERR_clear_error()
        let result = unsafe SSL_read_ex(ssl, &bytes, bytes.count, &count)
        if result == 1 { return .bytes(Array(bytes.prefix(count))) }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .nothing
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: return .failed(TLSEnd.drain())
        }
    }

    /// Writes records of at most 16 KiB.
    func write(_ bytes: [UInt8]) {
        ERR_clear_error()
        var count = 0
        _ = unsafe SSL_write_ex(ssl, bytes, bytes.count, &count)
    }

    /// Returns how many KeyUpdates and session tickets were received since the last call.
    func takeMessages() -> (keyUpdates: Int, tickets: Int) {
        defer { (choice.keyUpdates, choice.tickets) = (0, 0) }
        return (choice.keyUpdates, choice.tickets)
    }

    /// Sends close_notify.
    func close() {
        ERR_clear_error()
        _ = unsafe SSL_shutdown(ssl)
    }

    /// Updates the traffic keys, of both sides if `isAsking`.
    func updateKeys(isAsking: Bool) {
        ERR_clear_error()
        let kind = isAsking ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        _ = unsafe SSL_key_update(ssl, kind)
        _ = unsafe SSL_do_handshake(ssl)
    }

    /// Sends one NewSessionTicket, as a server.
    func sendTicket() {
        ERR_clear_error()
        _ = unsafe SSL_new_session_ticket(ssl)
        _ = unsafe SSL_do_handshake(ssl)
    }
}
