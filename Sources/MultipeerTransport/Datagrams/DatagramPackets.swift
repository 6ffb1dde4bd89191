import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerLink
import MultipeerSecurity

/// The packets of one link in either direction: the channel that seals and opens them, those that wait for the socket, and the
/// messages that have arrived.
///
/// A value, although its owner is an object: a packet touches most of it, and Swift checks each access to a property of an object
/// at run time.
struct DatagramPackets: ~Copyable {
    /// How much is sealed before it is handed to the socket.
    private static let sealing = 65_536
    /// The maximum of packets that wait for the socket; further ones are lost.
    private static let mostWaiting = 4 * sealing

    /// The header of every datagram; nil while none is sent.
    private var header: DatagramHeader?
    private var channel: DatagramChannel?
    private var batch = DatagramBatch()
    private var content = ByteBuffer()
    private var incomingMessages = IncomingMessages()
    /// Where the peer receives.
    private(set) var remote: SocketAddress?
    private(set) var dropped = 0

    /// Whether packets wait for the socket to have room.
    var isBlocked: Bool { !batch.isEmpty }

    /// Begins; without a channel on a plain link.
    mutating func begin(_ header: DatagramHeader, to remote: SocketAddress) {
        drop()
        self.header = header
        self.remote = remote
    }

    mutating func use(_ channel: consuming DatagramChannel) { self.channel = consume channel }

    mutating func drop() {
        header = nil
        channel = nil
        batch.removeAll()
    }

    /// Continues the handshake. Returns whether it is complete.
    @discardableResult
    mutating func shake(
        _ peer: LinkedPeer, _ engine: inout SessionEngine, at now: Moment
    ) throws(SecurityFault) -> Bool {
        let isDone = try channel?.handshake() ?? false
        engine.datagrams.handshakeMoved(of: peer, flights: channel?.flight ?? 0, isDone: isDone, at: now)
        gather()
        return isDone
    }

    mutating func retransmit() throws(SecurityFault) {
        try channel?.retransmit()
        gather()
    }
}

// MARK: - Sending

extension DatagramPackets {
    struct Sealed {
        var count = 0
        var bytes = 0
        /// The path carries no message at present.
        var isRefused = false
    }

    /// Sends a message of the engine's own.
    mutating func seal(own message: [UInt8]) throws(SecurityFault) {
        content.append(message)
        defer { content.removeAll() }
        try Self.protect(content, header, &channel, &batch, &dropped)
        gather()
    }

    /// Seals messages in order, until as much waits as is handed to the socket at once. `sealed`: what was taken, even if sealing
    /// has failed.
    mutating func seal(
        _ messages: ArraySlice<[UInt8]>, to peer: LinkedPeer, _ engine: inout SessionEngine,
        at now: Moment, counting sealed: inout Sealed
    ) throws(SecurityFault) {
        var room = Self.sealing - batch.byteCount
        for message in messages {
            if room <= 0 { break }
            guard engine.datagrams.encode(message.span, to: peer, into: &content, at: now) else {
                sealed.isRefused = true
                break
            }
            sealed.count += 1
            sealed.bytes += message.count
            room -= message.count + Self.overhead
            defer { content.removeAll() }
            try Self.protect(content, header, &channel, &batch, &dropped)
        }
        gather()
    }

    /// Hands what waits to the socket, as long as it has room.
    mutating func flush(through port: DatagramPort) {
        guard let remote, !batch.isEmpty else { return }
        dropped += port.socket.send(&batch, to: remote).refused
    }

    private mutating func gather() { Self.gather(&channel, header, &batch, &dropped) }

    // These name what they access, so that it is one part of a value, and not the value, that a closure changes.

    /// A plain content is a packet at once; records are gathered when all are written. [dgram.mode]
    private static func protect(
        _ content: borrowing ByteBuffer, _ header: DatagramHeader?, _ channel: inout DatagramChannel?,
        _ batch: inout DatagramBatch, _ dropped: inout Int
    ) throws(SecurityFault) {
        try content.read { (bytes) throws(SecurityFault) in
            if header?.kind == .plain {
                append(bytes, header, &batch, &dropped)
            } else {
                try channel?.write(bytes)
            }
        }
    }

    private static func gather(
        _ channel: inout DatagramChannel?, _ header: DatagramHeader?, _ batch: inout DatagramBatch,
        _ dropped: inout Int
    ) {
        channel?.withRecords { append($0, header, &batch, &dropped) }
    }

    private static func append(
        _ body: Span<UInt8>, _ header: DatagramHeader?, _ batch: inout DatagramBatch, _ dropped: inout Int
    ) {
        guard let header, batch.byteCount < mostWaiting else {
            dropped += 1
            return
        }
        batch.append {
            header.encode(into: &$0)
            $0.append(body)
        }
    }

    private static let overhead =
        DatagramHeader.byteCount + DatagramChannel.recordOverhead + ContentHeader.byteCount
}

// MARK: - Receiving

extension DatagramPackets {
    /// Takes what followed the header of a packet that the engine admits.
    mutating func receive(
        _ body: Span<UInt8>, from source: SocketAddress, of peer: LinkedPeer, _ engine: inout SessionEngine,
        at now: Moment
    ) throws(SecurityFault) {
        if header?.kind == .plain {
            content.append(body)
            return take(from: source, of: peer, &engine, at: now)
        }
        if channel?.isEstablished == true {
            var start = 0
            while try channel?.open(body, from: &start, into: &content) != nil {  // [dgram.keep-reading]
                take(from: source, of: peer, &engine, at: now)
            }
        } else {
            try channel?.receive(body)
            guard try shake(peer, &engine, at: now) else { return }
            while try channel?.read(into: &content) != nil {
                take(from: source, of: peer, &engine, at: now)
            }
        }
        gather()
    }

    /// Handles the content, and drops it.
    private mutating func take(
        from source: SocketAddress, of peer: LinkedPeer, _ engine: inout SessionEngine, at now: Moment
    ) {
        let verdict = content.read { engine.datagrams.receive($0, from: peer, at: now) }
        if verdict.movesPeer, remote != source { remote = source }  // [dgram.address]
        if verdict.isMessage {
            content.discard(ContentHeader.byteCount)
            Self.append(content, to: &incomingMessages)
        }
        content.removeAll()
    }

    private static func append(_ message: borrowing ByteBuffer, to messages: inout IncomingMessages) {
        message.read { messages.append(small: $0, cost: MessageCredit.cost($0.count)) }
    }

    /// What came since the last time.
    mutating func takeIncomingMessages() -> IncomingBatch { incomingMessages.takeAll() }
}
