import CLibSSL
import MultipeerCore
import MultipeerFraming

/// One TLS 1.3 connection over two memory BIOs. The only owner of its `SSL`, so it cannot be shared by accident.
///
/// Every method clears OpenSSL's error queue immediately before a call and drains it immediately after.
@safe
struct TLSEngine: ~Copyable {
    private let ssl: OpaquePointer
    /// Received bytes not yet decrypted, and bytes waiting to be sent. Both are owned by `ssl`.
    private let input: OpaquePointer
    private let output: OpaquePointer
    /// Retained because the verify callback reaches them through `ssl`.
    private let context: TLSContext
    private var rules: TLSVerifier
    /// Retained because libssl's message callback reaches it.
    private let messages = PostHandshakeLog()
    private var state = State.fresh

    private enum State: Equatable {
        /// No byte has been received.
        case fresh
        case shakingHands
        case established
        case failed(SecurityFault)
    }

    init(
        _ context: TLSContext, role: SecureChannel.Role, accepting: TLSVerifier.Acceptance
    ) throws(SecurityFault) {
        let ssl = unsafe try context.makeConnection()
        guard let input = unsafe BIO_new(BIO_s_mem()), let output = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(ssl)
            throw .internal("no memory for a TLS connection")
        }
        unsafe SSL_set_bio(ssl, input, output)
        switch role {
        case .client: unsafe SSL_set_connect_state(ssl)
        case .server: unsafe SSL_set_accept_state(ssl)
        }
        unsafe self.ssl = ssl
        unsafe self.input = input
        unsafe self.output = output
        self.context = context
        rules = context.rules.accepting(accepting)
        unsafe rules.attach(to: ssl)
        unsafe messages.attach(to: ssl)
    }

    deinit { unsafe SSL_free(ssl) }  // libssl erases the keys it derived. [secret.erase]

    /// Replaces the keys that are accepted, until the other side's was judged.
    mutating func accept(_ accepted: TLSVerifier.Acceptance) {
        rules = context.rules.accepting(accepted)
        unsafe rules.attach(to: ssl)
    }

    private mutating func fail(_ fault: SecurityFault) -> SecurityFault {
        if case .failed(let first) = state { return first }
        state = .failed(fault)
        return fault
    }
}

// MARK: - Network side

extension TLSEngine {
    /// The valid first bytes of a TLS connection: of a handshake record or of an alert.
    private static let firstBytes: [UInt8] = [22, 21]

    mutating func receive(_ bytes: Span<UInt8>) throws(SecurityFault) {
        if case .failed(let fault) = state { throw fault }
        guard !bytes.isEmpty else { return }
        if state == .fresh {
            // [enc.no-negotiation]
            guard Self.firstBytes.contains(bytes[0]) else { throw fail(.peer(.notTLS)) }
            state = .shakingHands
        }
        let taken = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe BIO_write(input, buffer.baseAddress, CInt(buffer.count))
        }
        guard taken == bytes.count else { throw fail(.internal("no memory for received bytes")) }
    }

    var isGoodbyeReceived: Bool { unsafe SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    var outputCount: Int { unsafe BIO_ctrl_pending(output) }

    mutating func withOutput<Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe multipeer_bio_contents(output, &start)
        guard count > 0 else { return }
        let taken = try body(unsafe Span(_unsafeElements: UnsafeBufferPointer(start: start, count: count)))
        precondition(taken >= 0 && taken <= count, "a sender took more than it was lent")
        if taken > 0 { _ = unsafe multipeer_bio_skip(output, taken) }
    }
}

// MARK: - Application side

extension TLSEngine {
    mutating func handshake() throws(SecurityFault) -> Bool {
        if case .failed(let fault) = state { throw fault }
        if state == .established { return true }
        OpenSSLErrors.clear()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 {
            state = .established
            return true
        }
        if unsafe SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return false }
        throw fail(diagnose())
    }

    /// Decrypts records until the limit, the end of the input, a message of TLS itself, or a fault. A message or a fault
    /// after valid bytes is the result of the next call.
    mutating func read(
        into buffer: inout ByteBuffer, upTo limit: Int
    ) throws(SecurityFault) -> SecureChannel.ReadResult {
        if case .failed(let fault) = state { throw fault }
        guard state == .established, limit > 0 else { return .needsInput }
        if let message = messages.take() { return .message(message) }
        OpenSSLErrors.clear()
        var stop = SSL_ERROR_NONE
        let count = buffer.write(upTo: limit) { room in
            unsafe room.withUnsafeMutableBufferPointer { room in
                var filled = 0
                while filled < limit, messages.isEmpty, hasInput {
                    var count = 0
                    let start = unsafe room.baseAddress?.advanced(by: filled)
                    let pending = unsafe (BIO_ctrl_pending(input), outputCount)
                    let result = unsafe SSL_read_ex(ssl, start, limit - filled, &count)
                    guard result == 1 else {
                        stop = unsafe SSL_get_error(ssl, result)
                        // libssl also returns after it has written its answer to a KeyUpdate: then more is to be read.
                        let hasMoved =
                            unsafe BIO_ctrl_pending(input) < pending.0 || outputCount > pending.1
                        if stop == SSL_ERROR_WANT_READ, hasMoved { continue }
                        break
                    }
                    filled += count
                }
                return filled
            }
        }
        let isFault = ![SSL_ERROR_NONE, SSL_ERROR_WANT_READ, SSL_ERROR_ZERO_RETURN].contains(stop)
        let fault: SecurityFault? = isFault ? fail(diagnose()) : nil
        if count > 0 { return .bytes(count) }
        if let fault { throw fault }
        if let message = messages.take() { return .message(message) }
        return stop == SSL_ERROR_ZERO_RETURN ? .closed : .needsInput
    }

    /// Whether a read could return data: in each read that does not, OpenSSL allocates and frees a record buffer.
    private var hasInput: Bool {
        unsafe BIO_ctrl_pending(input) > 0 || SSL_has_pending(ssl) == 1 || isGoodbyeReceived
    }

    mutating func write(_ bytes: Span<UInt8>) throws(SecurityFault) {
        if case .failed(let fault) = state { throw fault }
        precondition(state == .established, "writing before the handshake is complete")
        OpenSSLErrors.clear()
        let written = unsafe bytes.withUnsafeBufferPointer { buffer in
            var count = 0
            return unsafe SSL_write_ex(ssl, buffer.baseAddress, buffer.count, &count) == 1
        }
        guard written else { throw fail(.internal("cannot encrypt: \(OpenSSLErrors.drain().text)")) }
    }

    mutating func close() {
        guard state == .established else { return }
        OpenSSLErrors.clear()
        _ = unsafe SSL_shutdown(ssl)
        OpenSSLErrors.clear()
    }
}

// MARK: - Facts

extension TLSEngine {
    func exportKey(label: String, context: [UInt8], count: Int) throws(SecurityFault) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: count)
        OpenSSLErrors.clear()
        guard state == .established,
            unsafe SSL_export_keying_material(
                ssl, &key, count, label, label.utf8.count, context, context.count, 1) == 1
        else { throw .internal("no key to export: \(OpenSSLErrors.drain().text)") }
        return key
    }

    var peerChain: [Certificate] {
        guard state == .established, let leaf = unsafe SSL_get0_peer_certificate(ssl) else { return [] }
        var chain = unsafe [Certificate(leaf)]
        let sent = unsafe SSL_get_peer_cert_chain(ssl)
        // For a client the list begins with the leaf, for a server it does not.
        let first: CInt = unsafe SSL_is_server(ssl) == 1 ? 0 : 1
        let count = unsafe OPENSSL_sk_num(sent)
        for index in first..<max(first, count) {
            guard let value = unsafe OPENSSL_sk_value(sent, index) else { continue }
            unsafe chain.append(Certificate(OpaquePointer(value)))
        }
        return chain.compactMap { $0 }
    }

    var peerFingerprint: Fingerprint? {
        guard state == .established, let leaf = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
        return unsafe TLSVerifier.fingerprint(leaf)
    }

    var keyedUID: UID? {
        guard state == .established, let leaf = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
        return unsafe UID.keyed(by: leaf)
    }

    var suite: String? {
        guard state == .established, let cipher = unsafe SSL_get_current_cipher(ssl),
            let name = unsafe SSL_CIPHER_standard_name(cipher)
        else { return nil }
        return unsafe String(cString: name)
    }

    var group: String? {
        guard state == .established,
            let name = unsafe SSL_group_to_name(ssl, multipeer_ssl_group(ssl))
        else { return nil }
        let text = unsafe String(cString: name)
        return Self.groupNames[text.lowercased()] ?? text
    }

    /// The names in IANA's registry for those of OpenSSL, which differ from version to version.
    private static let groupNames = [
        "x25519mlkem768": "X25519MLKEM768", "x25519": "x25519", "secp256r1": "secp256r1",
        "prime256v1": "secp256r1", "p-256": "secp256r1",
    ]

    private func diagnose() -> SecurityFault {
        unsafe OpenSSLErrors.drain().fault(
            verification: SSL_get_verify_result(ssl), isEstablished: state == .established)
    }
}
