import CLibSSL
import MultipeerCore
import MultipeerFraming

/// One TLS 1.3 connection in memory. The only owner of its `SSL`, so it cannot be shared by accident.
///
/// Every method clears OpenSSL's error queue immediately before a call and drains it immediately after.
@safe
struct TLSEngine: ~Copyable {
    private let ssl: OpaquePointer
    /// Received bytes, lent for one call, and bytes waiting to be sent. Owned by `ssl`.
    private let wire: UnsafeMutablePointer<multipeer_wire>
    /// Retained because the verify callback reaches them through `ssl`.
    private let context: TLSContext
    private var rules: TLSVerifier
    /// Whether libssl's two buffers of a record stay after the handshake, or are allocated for each record: they stay where the
    /// other side has proven a key that was expected, and not for anyone who connects.
    private let keepsBuffers: Bool
    /// Retained because libssl's message callback reaches it.
    private let messages = PostHandshakeLog()
    private var state = State.fresh
    /// Whether the last read has left nothing inside libssl: another one needs input.
    private var isDrained = false
    /// The fingerprint of the other side's leaf, computed once; nil before the end of the handshake.
    private(set) var peerFingerprint: Fingerprint?

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
        guard let bio = unsafe multipeer_wire_new(), let wire = unsafe multipeer_wire_of(bio) else {
            unsafe SSL_free(ssl)
            throw .internal("no memory for a TLS connection")
        }
        unsafe SSL_set_bio(ssl, bio, bio)  // It owns the BIO from here on.
        switch role {
        case .client: unsafe SSL_set_connect_state(ssl)
        case .server: unsafe SSL_set_accept_state(ssl)
        }
        unsafe self.ssl = ssl
        unsafe self.wire = wire
        self.context = context
        rules = context.rules.accepting(accepting)
        keepsBuffers = if case .only = accepting { true } else { false }
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

    /// Checks the first byte of the connection. [enc.no-negotiation]
    private mutating func begin(_ input: borrowing ByteBuffer) throws(SecurityFault) {
        guard state == .fresh, !input.isEmpty else { return }
        guard input.read({ Self.firstBytes.contains($0[0]) }) else { throw fail(.peer(.notTLS)) }
        state = .shakingHands
    }

    /// Lends the received bytes to libssl during `body`, and drops those that it has taken.
    private func lend<Result>(_ input: inout ByteBuffer, _ body: () -> Result) -> Result {
        let (result, left) = input.read { bytes in
            unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe wire.pointee.input = buffer.baseAddress
                unsafe wire.pointee.input_count = buffer.count
                let result = body()
                let left = unsafe wire.pointee.input_count
                unsafe wire.pointee.input = nil
                unsafe wire.pointee.input_count = 0
                return (result, left)
            }
        }
        input.discard(input.count - left)
        return result
    }

    var isGoodbyeReceived: Bool { unsafe SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    var outputCount: Int { unsafe wire.pointee.output_end - wire.pointee.output_start }

    mutating func withOutput<Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        let count = outputCount
        guard count > 0, let output = unsafe wire.pointee.output else { return }
        let start = unsafe output + wire.pointee.output_start
        let taken = try body(unsafe Span(_unsafeElements: UnsafeBufferPointer(start: start, count: count)))
        precondition(taken >= 0 && taken <= count, "a sender took more than it was lent")
        unsafe multipeer_wire_sent(wire, taken)
    }
}

// MARK: - Application side

extension TLSEngine {
    mutating func handshake(from input: inout ByteBuffer) throws(SecurityFault) -> Bool {
        if case .failed(let fault) = state { throw fault }
        if state == .established { return true }
        try begin(input)
        OpenSSLErrors.clear()
        let result = lend(&input) { unsafe SSL_do_handshake(ssl) }
        if result == 1 {
            state = .established
            if keepsBuffers { unsafe multipeer_ssl_keep_buffers(ssl) }
            if let leaf = unsafe SSL_get0_peer_certificate(ssl) {
                peerFingerprint = unsafe TLSVerifier.fingerprint(leaf)
            }
            return true
        }
        if unsafe SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return false }
        throw fail(diagnose())
    }

    /// Decrypts records until the limit, the end of the input, a message of TLS itself, or a fault. A message or a fault
    /// after valid bytes is the result of the next call.
    mutating func read(
        from input: inout ByteBuffer, into buffer: inout ByteBuffer, upTo limit: Int
    ) throws(SecurityFault) -> SecureChannel.ReadResult {
        if let known = try resultBeforeReading(limit, of: input.count) { return known }
        var stop = SSL_ERROR_NONE
        var isDrained = false
        let count = buffer.write(upTo: limit) { room in
            unsafe room.withUnsafeMutableBufferPointer { room in
                lend(&input) { unsafe fill(UnsafeMutableRawBufferPointer(room), &stop, &isDrained) }
            }
        }
        self.isDrained = isDrained
        return try result(count, stop)
    }

    /// Decrypts records to the end of an array, without a buffer in between.
    mutating func read(
        from input: inout ByteBuffer, appendingTo bytes: inout [UInt8], upTo limit: Int
    ) throws(SecurityFault) -> SecureChannel.ReadResult {
        if let known = try resultBeforeReading(limit, of: input.count) { return known }
        var stop = SSL_ERROR_NONE
        var isDrained = false
        var count = 0
        bytes.append(addingCapacity: limit) { room in
            unsafe room.withUnsafeMutableBufferPointer { room, filled in
                let free = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(room)[filled...])
                count = lend(&input) { unsafe fill(free, &stop, &isDrained) }
                filled += count
            }
        }
        self.isDrained = isDrained
        return try result(count, stop)
    }

    private mutating func resultBeforeReading(
        _ limit: Int, of count: Int
    ) throws(SecurityFault) -> SecureChannel.ReadResult? {
        if case .failed(let fault) = state { throw fault }
        guard state == .established, limit > 0 else { return .needsInput }
        if isDrained, count == 0 { return .needsInput }
        isDrained = false
        if let message = messages.take() { return .message(message) }
        OpenSSLErrors.clear()
        return nil
    }

    /// Returns how many bytes of the room it filled. `stop`: why it did not fill more.
    private func fill(
        _ room: UnsafeMutableRawBufferPointer, _ stop: inout CInt, _ isDrained: inout Bool
    ) -> Int {
        var filled = 0
        while filled < room.count, messages.isEmpty {
            guard hasInput else {
                isDrained = true
                break
            }
            var count = 0
            let start = unsafe room.baseAddress?.advanced(by: filled)
            let pending = unsafe wire.pointee.input_count
            let result = unsafe SSL_read_ex(ssl, start, room.count - filled, &count)
            guard result == 1 else {
                stop = unsafe SSL_get_error(ssl, result)
                // libssl also returns after it has written its answer to a KeyUpdate: then more is to be read.
                let left = unsafe wire.pointee.input_count
                if stop == SSL_ERROR_WANT_READ, left > 0, left < pending { continue }
                break
            }
            filled += count
        }
        return filled
    }

    private mutating func result(
        _ count: Int, _ stop: CInt
    ) throws(SecurityFault) -> SecureChannel.ReadResult {
        let isFault = ![SSL_ERROR_NONE, SSL_ERROR_WANT_READ, SSL_ERROR_ZERO_RETURN].contains(stop)
        let fault: SecurityFault? = isFault ? fail(diagnose()) : nil
        if count > 0 { return .bytes(count) }
        if let fault { throw fault }
        if let message = messages.take() { return .message(message) }
        return stop == SSL_ERROR_ZERO_RETURN ? .closed : .needsInput
    }

    /// Whether a read could return data: in each read that does not, OpenSSL allocates and frees a record buffer.
    private var hasInput: Bool {
        unsafe wire.pointee.input_count > 0 || SSL_has_pending(ssl) == 1 || isGoodbyeReceived
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
        return Self.registeredName(unsafe String(cString: name))
    }

    /// Returns the name in IANA's registry for that of OpenSSL, which differs from version to version.
    private static func registeredName(_ group: String) -> String {
        switch group.lowercased() {
        case "x25519mlkem768": "X25519MLKEM768"
        case "x25519": "x25519"
        case "secp256r1", "prime256v1", "p-256": "secp256r1"
        default: group
        }
    }

    private func diagnose() -> SecurityFault {
        unsafe OpenSSLErrors.drain().fault(
            verification: SSL_get_verify_result(ssl), isEstablished: state == .established)
    }
}
