import CLibSSL
package import MultipeerFraming

/// One DTLS 1.2 association in memory, keyed by a secret that both ends already share. Spec 10.
///
/// ```
///   shaking hands ──handshake() returns true──▶ established
///        └───────────── a fault ──────────────────┴──▶ failed
/// ```
///
/// It uses no socket and no clock. The owner passes it the body of each UDP payload with `receive`, then calls
/// `handshake` until that returns true once and from then on `read` until that returns nil; sends what `withRecords`
/// lends; and, during the handshake, calls `retransmit` whenever its own timer fires. `read` also serves
/// retransmissions after the handshake: the peer may not have received the last flight, and requests it by repeating
/// its own. Once `read` has returned nil, `open` does the same as both for one payload, and copies no record. A channel
/// that failed can no longer be used; the owner starts again with another key.
@safe
package struct DatagramChannel: ~Copyable {
    /// The bytes that a record adds to its content: a header of 13 bytes and a tag of 16.
    package static let recordOverhead = 29
    /// The number of bytes that fit after the header of a UDP payload.
    package static let largestBody = Limits.datagram - DatagramHeader.byteCount
    package static let largestContent = largestBody - recordOverhead
    package static let keyByteCount = 32

    /// The number of handshake flights so far: the timer restarts with each new one.
    package private(set) var flight = 0

    private let ssl: OpaquePointer
    /// Received bytes, lent for one call, and bytes waiting to be sent. Owned by `ssl`.
    private let wire: UnsafeMutablePointer<multipeer_wire>
    /// Records that `receive` took, and that libssl has not.
    private var received = ByteBuffer()
    /// Retained because the callbacks reach it through `ssl`.
    private let flights: DatagramFlights
    /// Flights waiting to be sent, ahead of the output.
    private var queue: [[UInt8]] = []
    /// The remaining repetitions of the last flight.
    private var repetitions: [[UInt8]] = []
    private var state = State.shakingHands

    private enum State: Equatable {
        case shakingHands
        case established
        case failed(SecurityFault)
    }

    /// - Parameters:
    ///   - role: the end to act as; the client sends first.
    ///   - key: ``keyByteCount`` bytes that only the two ends know.
    ///   - keyLog: where the secret is logged; nil, as it should be, for nowhere.
    /// - Throws: ``SecurityFault`` when there is no memory.
    package init(
        role: SecureChannel.Role, key: SecureBytes, keyLog: KeyLog? = nil
    ) throws(SecurityFault) {
        precondition(key.count == Self.keyByteCount, "the key of a datagram channel has 32 bytes")
        let context = try DatagramContext.shared(isLogging: keyLog != nil)
        OpenSSLErrors.clear()
        guard let ssl = unsafe SSL_new(context.pointer) else {
            throw .internal("no DTLS channel: \(OpenSSLErrors.drain().text)")
        }
        guard let bio = unsafe multipeer_wire_new(), let wire = unsafe multipeer_wire_of(bio) else {
            unsafe SSL_free(ssl)
            throw .internal("no memory for a DTLS channel")
        }
        unsafe SSL_set_bio(ssl, bio, bio)  // It owns the BIO from here on.
        // [dgram.role]
        switch role {
        case .client: unsafe SSL_set_connect_state(ssl)
        case .server: unsafe SSL_set_accept_state(ssl)
        }
        _ = unsafe multipeer_ssl_set_link_mtu(ssl, Self.largestBody)  // [dgram.size]
        unsafe self.ssl = ssl
        unsafe self.wire = wire
        unsafe flights = DatagramFlights(key: key, wire: wire, keyLog: keyLog)
        unsafe flights.attach(to: ssl)
    }

    deinit { unsafe SSL_free(ssl) }  // libssl erases the keys it derived. [secret.erase]

    private mutating func fail(_ fault: SecurityFault) -> SecurityFault {
        if case .failed(let first) = state { return first }
        state = .failed(fault)
        flights.forgetKey()
        return fault
    }

    private func diagnose() -> SecurityFault {
        OpenSSLErrors.drain().fault(verification: Int(X509_V_OK), isEstablished: state == .established)
    }
}

// MARK: - Network side

extension DatagramChannel {
    package var isEstablished: Bool { state == .established }

    /// Takes the body of one UDP payload. Records that cannot be valid are dropped here, because libssl would end the
    /// channel for some of them; so is an empty body, which libssl would take for the end. Only `handshake` and
    /// `read` can determine whether a record is authentic.
    package mutating func receive(_ datagram: Span<UInt8>) throws(SecurityFault) {
        if case .failed(let fault) = state { throw fault }
        guard datagram.count <= Self.largestBody else { return }  // [dgram.size]
        var start = 0
        while let end = DTLSRecords.end(from: start, in: datagram) {
            let record = datagram.extracting(start..<end)
            start = end
            // [dgram.drop]
            guard DTLSRecords.isPlausible(record, afterHandshake: state == .established) else { continue }
            received.append(record)
        }
    }

    /// Lends received records to libssl during `body`, and returns how many bytes it has taken.
    private static func lend<Result>(
        _ records: Span<UInt8>, to wire: UnsafeMutablePointer<multipeer_wire>, _ body: () -> Result
    ) -> (Result, Int) {
        unsafe records.withUnsafeBufferPointer { buffer in
            unsafe wire.pointee.input = buffer.baseAddress
            unsafe wire.pointee.input_count = buffer.count
            let result = body()
            let left = unsafe wire.pointee.input_count
            unsafe wire.pointee.input = nil
            unsafe wire.pointee.input_count = 0
            return (result, buffer.count - left)
        }
    }

    /// Queues the last flight again, when the owner's timer has fired. Does nothing after the handshake: from then on
    /// `read` repeats the flight when the peer asks for it.
    package mutating func retransmit() throws(SecurityFault) {
        if case .failed(let fault) = state { throw fault }
        guard !repetitions.isEmpty else { return }
        queue.append(repetitions.removeFirst())  // [dgram.retransmit]
    }

    /// Lends what is to be sent, the body of one UDP payload per call, and drops it afterwards. A body is one record,
    /// or as many handshake records as fit.
    package mutating func withRecords(_ body: (Span<UInt8>) -> Void) {
        for flight in queue { DTLSRecords.cut(flight.span, body) }
        queue.removeAll(keepingCapacity: true)
        let count = unsafe multipeer_wire_pending(wire)
        guard count > 0 else { return }
        DTLSRecords.cut(unsafe Span(_unsafeElements: output(count)), body)
        unsafe multipeer_wire_sent(wire, count)
    }

    /// The first bytes waiting to be sent.
    private func output(_ count: Int) -> UnsafeBufferPointer<UInt8> {
        let start = unsafe wire.pointee.output.map { unsafe $0 + wire.pointee.output_start }
        return unsafe UnsafeBufferPointer(start: start, count: count)
    }
}

// MARK: - Application side

extension DatagramChannel {
    /// Continues the handshake. Returns true once it is complete: only then may `write` be called.
    package mutating func handshake() throws(SecurityFault) -> Bool {
        if case .failed(let fault) = state { throw fault }
        if state == .established { return true }
        OpenSSLErrors.clear()
        let (ssl, wire) = unsafe (ssl, wire)
        let (result, taken) = received.read { records in
            unsafe Self.lend(records, to: wire) { unsafe SSL_do_handshake(ssl) }
        }
        received.discard(taken)
        let isWaiting = unsafe result != 1 && SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ
        takeFlight()
        if isWaiting { return false }
        guard result == 1 else { throw fail(diagnose()) }
        // libssl has no option to require it. [dgram.profile]
        guard unsafe multipeer_ssl_has_extended_secret(ssl) == 1 else {
            throw fail(.peer(.handshakeFailed("no extended master secret")))
        }
        flights.forgetKey()
        repetitions = []
        state = .established
        return true
    }

    /// Moves the flight that libssl just made from its output to the queue, and the repetitions after it to
    /// `repetitions`.
    private mutating func takeFlight() {
        let marks = flights.takeMarks()
        guard let end = marks.first else { return }
        flight += 1
        let bytes = unsafe Array(output(multipeer_wire_pending(wire)))
        unsafe multipeer_wire_sent(wire, bytes.count)
        queue.append(Array(bytes[..<end]))
        repetitions = zip(marks, marks.dropFirst() + [bytes.count]).map { Array(bytes[$0..<$1]) }
    }

    /// Appends the content of one record and returns its length; nil when there is none. Records that do not
    /// authenticate, or are duplicates, are skipped.
    package mutating func read(into buffer: inout ByteBuffer) throws(SecurityFault) -> Int? {
        if case .failed(let fault) = state { throw fault }
        guard state == .established else { return nil }
        let (ssl, wire) = unsafe (ssl, wire)
        let (read, taken) = received.read { records in
            unsafe Self.lend(records, to: wire) { unsafe Self.read(ssl, into: &buffer) }
        }
        received.discard(taken)
        return try count(of: read)
    }

    /// Takes the body of one UDP payload from the record at `start` on, until there is a content: appends that and returns
    /// its length, or returns nil at the end of the body. `start` is 0 at first, and then where the next call goes on.
    ///
    /// The same as `receive` and `read`. libssl gets one record at a time, and is not
    /// asked again when it has taken that and keeps nothing: each question costs as much as a tenth of a record.
    package mutating func open(
        _ datagram: Span<UInt8>, from start: inout Int, into buffer: inout ByteBuffer
    ) throws(SecurityFault) -> Int? {
        guard datagram.count <= Self.largestBody else { return nil }  // [dgram.size]
        let (ssl, wire) = unsafe (ssl, wire)
        while true {
            let isPending = unsafe !received.isEmpty || SSL_has_pending(ssl) == 1
            if isPending, let count = try read(into: &buffer) { return count }  // [dgram.keep-reading]
            if case .failed(let fault) = state { throw fault }
            guard state == .established, let end = DTLSRecords.end(from: start, in: datagram) else {
                return nil
            }
            let record = datagram.extracting(start..<end)
            start = end
            guard DTLSRecords.isPlausible(record, afterHandshake: true) else { continue }  // [dgram.drop]
            let (read, _) = unsafe Self.lend(record, to: wire) { unsafe Self.read(ssl, into: &buffer) }
            if let count = try count(of: read) { return count }
        }
    }

    /// Appends the content of one record. Returns its length, or why there is none.
    private static func read(
        _ ssl: OpaquePointer, into buffer: inout ByteBuffer
    ) -> (count: Int, stop: CInt) {
        OpenSSLErrors.clear()
        var stop = SSL_ERROR_NONE
        let count = buffer.write(upTo: largestBody) { room in
            unsafe room.withUnsafeMutableBufferPointer { room in
                var count = 0
                let result = unsafe SSL_read_ex(ssl, room.baseAddress, room.count, &count)
                if result != 1 { stop = unsafe SSL_get_error(ssl, result) }
                return result == 1 ? count : 0
            }
        }
        return (count, stop)
    }

    private mutating func count(of read: (count: Int, stop: CInt)) throws(SecurityFault) -> Int? {
        let (count, stop) = read
        if count > 0 { return count }
        if stop == SSL_ERROR_NONE || stop == SSL_ERROR_WANT_READ { return nil }  // [dgram.keep-reading]
        if stop == SSL_ERROR_ZERO_RETURN { throw fail(.peer(.alert(SecurityFault.Alert(rawValue: 0)))) }
        throw fail(diagnose())
    }

    /// Protects a content of 1 to ``largestContent`` bytes as one record and queues it for sending.
    package mutating func write(_ content: Span<UInt8>) throws(SecurityFault) {
        if case .failed(let fault) = state { throw fault }
        precondition(state == .established, "writing before the handshake is complete")
        precondition(
            !content.isEmpty && content.count <= Self.largestContent, "a content that fits no datagram")
        OpenSSLErrors.clear()
        let written = unsafe content.withUnsafeBufferPointer { buffer in
            var count = 0
            return unsafe SSL_write_ex(ssl, buffer.baseAddress, buffer.count, &count) == 1
        }
        guard written else { throw fail(.internal("cannot encrypt: \(OpenSSLErrors.drain().text)")) }
    }
}
