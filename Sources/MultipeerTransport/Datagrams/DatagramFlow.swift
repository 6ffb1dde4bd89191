import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerLink
import MultipeerSecurity

/// The unreliable messages of one link: its channel, and the queues in either direction. Lives on the loop.
///
/// Every failure here is reported to the engine, which decides when to start again: the link is not affected.
final class DatagramFlow {
    /// How much is sealed before it is handed to the socket.
    private static let sealing = 65_536
    /// The maximum of packets that wait for the socket; further ones are lost.
    private static let mostWaiting = 4 * sealing

    /// Identifies the link to the engine.
    let peer: LinkedPeer
    let port: DatagramPort
    /// Set while messages may go this way.
    var sendQueue: SendQueue<PathDown>?
    /// The driver is going to serve it.
    var isDue = false
    /// Messages that were taken from the send queue.
    private var queue: ArraySlice<[UInt8]> = []

    /// The address of the link's other end: the peer receives there, until it shows that it has moved.
    private let host: SocketAddress.Host
    private let keyLog: KeyLog?
    private var remote: SocketAddress?
    /// The header of every datagram; nil while none is sent.
    private var header: DatagramHeader?
    private var channel: DatagramChannel?
    private var batch = DatagramBatch()
    private var content = ByteBuffer()
    private var incomingMessages = IncomingMessages()

    private var dropped = 0

    init(of peer: LinkedPeer, port: DatagramPort, host: SocketAddress.Host, keyLog: KeyLog?) {
        self.peer = peer
        self.port = port
        self.host = host
        self.keyLog = keyLog
    }

    /// Whether packets wait for the socket to have room.
    var isBlocked: Bool { !batch.isEmpty }

    var facts: ConnectionInfo.Datagrams {
        let counts = peer.datagramCounts
        return ConnectionInfo.Datagrams(
            isUp: sendQueue != nil, sent: counts.sent, received: counts.received,
            dropped: dropped + counts.dropped)
    }
}

// MARK: - The engine's actions

extension DatagramFlow {
    /// Begins with a new key; nil for a plain link. The client sends first.
    func begin(
        _ begun: DatagramAction.Channel, _ key: SecureBytes?, _ engine: inout SessionEngine, at now: Moment
    ) {
        drop()
        header = begun.header
        remote = SocketAddress(host, port: begun.port)
        guard let key else { return }
        attempt(&engine, at: now) { (engine) throws(SecurityFault) in
            channel = try DatagramChannel(
                role: begun.isClient ? .client : .server, key: key, keyLog: keyLog)  // [dgram.role]
            try shake(&engine, at: now)
        }
    }

    func drop() {
        header = nil
        channel = nil
        batch.removeAll()
    }

    func retransmit(_ engine: inout SessionEngine, at now: Moment) {
        attempt(&engine, at: now) { (_) throws(SecurityFault) in
            try channel?.retransmit()
            gather()
        }
    }

    /// Sends a message of the engine's own.
    func send(_ own: [UInt8], _ engine: inout SessionEngine, at now: Moment) {
        attempt(&engine, at: now) { (_) throws(SecurityFault) in
            try protect(own.span)
            gather()
        }
    }

    /// Returns whether the handshake is complete.
    @discardableResult
    private func shake(_ engine: inout SessionEngine, at now: Moment) throws(SecurityFault) -> Bool {
        let isDone = try channel?.handshake() ?? false
        engine.datagrams.handshakeMoved(of: peer, flights: channel?.flight ?? 0, isDone: isDone, at: now)
        gather()
        return isDone
    }

    private func attempt(
        _ engine: inout SessionEngine, at now: Moment,
        _ body: (inout SessionEngine) throws(SecurityFault) -> Void
    ) {
        do throws(SecurityFault) { try body(&engine) } catch { engine.datagrams.failed(of: peer, at: now) }
    }
}

// MARK: - Sending

extension DatagramFlow {
    func enqueue(_ messages: [[UInt8]]) { queue += messages }

    /// Returns the messages that were not sealed.
    func takeQueue() -> [[UInt8]] {
        defer { queue = [] }
        return Array(queue)
    }

    /// Seals and sends what waits, until nothing does, the socket is full or the engine refuses.
    func pump(_ engine: inout SessionEngine, at now: Moment) {
        var isRefused = false
        repeat {
            let messages = seal(&engine, at: now)
            flush()
            sendQueue?.released(messages: messages.count, bytes: messages.bytes)
            isRefused = messages.isRefused
        } while !queue.isEmpty && batch.isEmpty && !isRefused
    }

    private func seal(
        _ engine: inout SessionEngine, at now: Moment
    ) -> (count: Int, bytes: Int, isRefused: Bool) {
        var (count, bytes, isRefused) = (0, 0, false)
        attempt(&engine, at: now) { (engine) throws(SecurityFault) in
            var room = Self.sealing - batch.byteCount
            while room > 0, let message = queue.first {
                guard engine.datagrams.encode(message.span, to: peer, into: &content) else {
                    isRefused = true
                    break
                }
                defer { content.removeAll() }
                queue.removeFirst()
                count += 1
                bytes += message.count
                room -= message.count + Self.overhead
                try content.read { (bytes) throws(SecurityFault) in try protect(bytes) }
            }
            gather()
        }
        if queue.isEmpty { queue = [] }
        return (count, bytes, isRefused)
    }

    /// A plain content is a packet at once; records are gathered when all are written. [dgram.mode]
    private func protect(_ content: Span<UInt8>) throws(SecurityFault) {
        if header?.kind == .plain { append(content) } else { try channel?.write(content) }
    }

    private func gather() { channel?.withRecords { append($0) } }

    private func append(_ body: Span<UInt8>) {
        guard let header, batch.byteCount < Self.mostWaiting else {
            dropped += 1
            return
        }
        batch.append {
            header.encode(into: &$0)
            $0.append(body)
        }
    }

    private func flush() {
        guard let remote, !batch.isEmpty else { return }
        dropped += port.socket.send(&batch, to: remote).refused
    }

    private static let overhead =
        DatagramHeader.byteCount + DatagramChannel.recordOverhead + ContentHeader.byteCount
}

// MARK: - Receiving

extension DatagramFlow {
    /// Takes what followed the header of a packet that the engine admits.
    func receive(
        _ body: Span<UInt8>, from source: SocketAddress, _ engine: inout SessionEngine, at now: Moment
    ) {
        if header?.kind == .plain { return take(body, from: source, &engine, at: now) }
        attempt(&engine, at: now) { (engine) throws(SecurityFault) in
            try channel?.receive(body)
            if channel?.isEstablished == false, try !shake(&engine, at: now) { return }
            while try channel?.read(into: &content) != nil {  // [dgram.keep-reading]
                content.read { take($0, from: source, &engine, at: now) }
                content.removeAll()
            }
            gather()
        }
    }

    private func take(
        _ content: Span<UInt8>, from source: SocketAddress, _ engine: inout SessionEngine, at now: Moment
    ) {
        let verdict = engine.datagrams.receive(content, from: peer, at: now)
        if verdict.movesPeer { remote = source }  // [dgram.address]
        guard verdict.isMessage else { return }
        let message = content.extracting(ContentHeader.byteCount..<content.count)
        incomingMessages.append(small: message, cost: MessageCredit.cost(message.count))
    }

    /// What came since the last time.
    func takeIncomingMessages() -> IncomingBatch { incomingMessages.takeAll() }
}
