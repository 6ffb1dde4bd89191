package import MultipeerCore
package import MultipeerFraming

extension DatagramPath {
    /// What the owner is to do with a received content.
    package struct Verdict: Equatable, Sendable {
        /// Whether the bytes after the content's header are a message for the application.
        package var isMessage: Bool
        /// Whether its source address is the peer's new address.
        package let movesPeer: Bool

        package static let dropped = Verdict(isMessage: false, movesPeer: false)
    }

    /// Handles a content: what the channel read, or, on a plain link, what followed the header of a datagram.
    package mutating func receive(_ content: Span<UInt8>, at now: Moment) -> Verdict {
        guard canExchange, let header = ContentHeader(content) else { return drop() }  // [dgram.drop]
        let place = window.take(header.sequence)
        guard place != .repeated else { return drop() }  // [dgram.sequence]
        heard(at: now)
        let token = content.extracting(ContentHeader.byteCount..<content.count)
        switch header.kind {
        case .message: break
        case .ping:
            pong(token)
            joinPing(at: now)
        case .pong: if let sent = ping(in: token) { answered(sent, at: now) }
        }
        // The sender of a plain datagram is not authenticated, and an older one may come from the peer's previous
        // address. [dgram.address]
        return Verdict(isMessage: header.kind == .message, movesPeer: isProtected && place == .newest)
    }

    private mutating func drop() -> Verdict {
        dropped += 1
        return .dropped
    }

    /// Appends the content that carries a message; it must be one that the path can carry.
    package mutating func encode(_ message: Span<UInt8>, into buffer: inout ByteBuffer, at now: Moment) {
        precondition(canCarry(message.count), "a message that this path does not carry")
        ContentHeader(.message, sequence: nextSequence()).encode(into: &buffer)
        buffer.append(message)
        sent(at: now)
    }

    /// Returns the next sequence number, modulo 2³². [dgram.sequence]
    private mutating func nextSequence() -> UInt32 {
        defer { sequence &+= 1 }
        return sequence
    }
}

// MARK: - Pings

extension DatagramPath {
    mutating func ping(at now: Moment) {
        lastPing = max(lastPing + 1, nanoseconds(at: now))
        var content = ByteBuffer(capacity: 13)
        ContentHeader(.ping, sequence: nextSequence()).encode(into: &content)
        content.append(lastPing)
        say(.send(content.takeAll()))
    }

    private mutating func pong(_ token: Span<UInt8>) {
        guard waitingPongs < Self.mostPongs else { return }
        waitingPongs += 1
        var content = ByteBuffer(capacity: 13)
        ContentHeader(.pong, sequence: nextSequence()).encode(into: &content)
        content.append(token)
        say(.send(content.takeAll()))
    }

    /// Returns the ping of this pair of numbers that has this token.
    private func ping(in token: Span<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for index in token.indices { value = value << 8 | UInt64(token[index]) }
        return value > lastForeignPing && value <= lastPing ? value : nil
    }

    private mutating func answered(_ ping: UInt64, at now: Moment) {
        let elapsed = nanoseconds(at: now)
        let sample = Duration.nanoseconds(Int64(clamping: elapsed > ping ? elapsed - ping : 0))
        let bounded = min(sample, Self.longestRoundTrip)
        roundTrip =
            roundTrip == .zero || bounded < roundTrip ? bounded : (roundTrip * 7 + bounded) / 8
        if let last = lastProbe, ping > last { measured(at: now) }
        answered(at: now)
    }

    /// The time since the first ping.
    private mutating func nanoseconds(at now: Moment) -> UInt64 {
        let first = firstPing ?? now
        firstPing = first
        return UInt64(max(0, (now - first).wholeNanoseconds))
    }

    private static let mostPongs = 16
    /// What is longer is no network: this end or the peer was suspended meanwhile.
    private static let longestRoundTrip = Duration.seconds(5)
}
