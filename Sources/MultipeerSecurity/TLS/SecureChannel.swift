package import MultipeerCore
package import MultipeerFraming

/// Translates between bytes of the network and bytes of the application: TLS 1.3 or, after a preface, plain.
///
/// It uses no socket. The owner calls `handshake` with received bytes until it returns true, then `read` and `write`,
/// and after each call writes what `withOutput` lends to its socket. After a fault there may still be output: the alert
/// that notifies the other side.
package struct SecureChannel: ~Copyable {
    /// Nil for a plain channel.
    private var tls: TLSEngine?
    private var plain = PlainEngine()
    /// What `receive` took.
    private var received = ByteBuffer()

    /// Creates a TLS 1.3 channel that fails in the handshake unless the other side holds one of the keys, and its uid if that
    /// is keyed.
    package static func tls(
        _ context: TLSContext, role: Role, accepting: [CertificatePin]
    ) throws(SecurityFault) -> SecureChannel {
        SecureChannel(tls: try TLSEngine(context, role: role, accepting: .only(accepting)))
    }

    /// Creates a channel for `InvitationTLS` alone. `uid`: that of the other side, if it is known.
    static func invitation(
        _ context: TLSContext, role: Role, to uid: UID?
    ) throws(SecurityFault) -> SecureChannel {
        SecureChannel(
            tls: try TLSEngine(context, role: role, accepting: uid.map { .holder($0) } ?? .anyone))
    }

    /// Creates a channel without protection; both ends declare that with a preface.
    package static func plain() -> SecureChannel {
        var channel = SecureChannel(tls: nil)
        channel.plain.open()
        return channel
    }

    private init(tls: consuming TLSEngine?) { self.tls = tls }

    /// Replaces the keys that are accepted, until the other side's was judged. Does nothing for a plain channel.
    package mutating func accept(_ pins: [CertificatePin]) { tls?.accept(.only(pins)) }

    package var isEncrypted: Bool { tls != nil }

    // MARK: Network side

    /// Takes received bytes and keeps them until `handshake()` or `read(into:upTo:)` processes them. An owner that has them
    /// in a buffer anyway passes that to `handshake(from:)` and `read(from:)`, which copies nothing.
    package mutating func receive(_ bytes: Span<UInt8>) throws(SecurityFault) {
        received.append(bytes)
        _ = try handshake()
    }

    /// Handles the end of the connection. Throws unless the other side has sent close_notify. A plain channel has
    /// no such signal, so there it always throws: do not call it when a CLOSE frame was received before. Read
    /// everything first.
    package func end() throws(SecurityFault) {
        guard ask({ $0.isGoodbyeReceived }) == true else { throw .peer(.truncated) }  // [tls.truncation]
    }

    /// Bytes waiting to be sent.
    package var outputCount: Int { ask { $0.outputCount } ?? plain.output.count }

    /// Lends the bytes waiting to be sent; `body` returns how many it took.
    package mutating func withOutput<Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        guard try tls?.withOutput(body) == nil else { return }
        plain.output.discard(try plain.output.read(body))
    }

    // MARK: Application side

    /// Continues the handshake with received bytes, and drops those that it has processed: all of them, unless data follows.
    /// Returns true once it is complete: only then may `write` be called.
    package mutating func handshake(from input: inout ByteBuffer) throws(SecurityFault) -> Bool {
        if let done = try tls?.handshake(from: &input) { return done }
        return try plain.handshake(from: &input)
    }

    package mutating func handshake() throws(SecurityFault) -> Bool {
        if let done = try tls?.handshake(from: &received) { return done }
        return try plain.handshake(from: &received)
    }

    /// Appends at most `limit` bytes of what was received to `buffer`, and drops the input that it has processed: all of it,
    /// unless the result is something else than `needsInput`.
    package mutating func read(
        from input: inout ByteBuffer, into buffer: inout ByteBuffer, upTo limit: Int
    ) throws(SecurityFault) -> ReadResult {
        if let result = try tls?.read(from: &input, into: &buffer, upTo: limit) { return result }
        return plain.read(from: &input, into: &buffer, upTo: limit)
    }

    /// Appends them to an array, which has the capacity.
    package mutating func read(
        from input: inout ByteBuffer, appendingTo bytes: inout [UInt8], upTo limit: Int
    ) throws(SecurityFault) -> ReadResult {
        if let result = try tls?.read(from: &input, appendingTo: &bytes, upTo: limit) { return result }
        return plain.read(from: &input, appendingTo: &bytes, upTo: limit)
    }

    package mutating func read(
        into buffer: inout ByteBuffer, upTo limit: Int
    ) throws(SecurityFault) -> ReadResult {
        if let result = try tls?.read(from: &received, into: &buffer, upTo: limit) { return result }
        return plain.read(from: &received, into: &buffer, upTo: limit)
    }

    /// Protects all of the bytes and queues them for sending. Queues nothing when there are no bytes.
    package mutating func write(_ bytes: Span<UInt8>) throws(SecurityFault) {
        guard !bytes.isEmpty, try tls?.write(bytes) == nil else { return }
        plain.output.append(bytes)
    }

    /// Protects everything in the buffer, queues it for sending, and empties the buffer.
    package mutating func write(contentsOf buffer: inout ByteBuffer) throws(SecurityFault) {
        try buffer.read { (bytes: Span<UInt8>) throws(SecurityFault) in try write(bytes) }
        buffer.removeAll()
    }

    /// Queues close_notify. Nothing may be written after it.
    package mutating func close() { tls?.close() }

    // MARK: Facts

    /// Derives key material that both ends, and no one else, can compute. RFC 8446, section 7.5.
    package func exportKey(label: String, context: [UInt8], count: Int) throws(SecurityFault) -> [UInt8] {
        let key = try ask { engine throws(SecurityFault) in
            try engine.exportKey(label: label, context: context, count: count)
        }
        guard let key else { throw .internal("a plain channel has no keys to export") }
        return key
    }

    /// The certificates that the other side presented, the leaf first. Empty before the end of the handshake
    /// and for a plain channel. Parsed again at each call.
    package var peerChain: [Certificate] { ask { $0.peerChain } ?? [] }

    /// The fingerprint of the other side's leaf, as the handshake compared it.
    package var peerFingerprint: Fingerprint? {
        ask { $0.peerFingerprint } ?? nil
    }

    /// The keyed uid that the other side's key hashes to.
    package var keyedUID: UID? {
        ask { $0.keyedUID } ?? nil
    }

    /// The cipher suite, by its IANA name: "TLS_AES_128_GCM_SHA256".
    package var suite: String? {
        ask { $0.suite } ?? nil
    }

    /// The group of the key exchange, by its IANA name: "x25519", or "X25519MLKEM768" if both ends have libssl 3.5.
    package var group: String? {
        ask { $0.group } ?? nil
    }

    /// Queries the TLS engine; returns nil when there is none.
    private func ask<Answer, Failure: Error>(
        _ body: (borrowing TLSEngine) throws(Failure) -> Answer
    ) throws(Failure) -> Answer? {
        switch tls {
        case .some(let engine): try body(engine)
        case .none: nil
        }
    }
}
