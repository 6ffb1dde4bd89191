import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerLink
import MultipeerSecurity

/// The unreliable messages of one link: its channel, and the queues in either direction. Lives on the loop.
///
/// Every failure here is reported to the engine, which decides when to start again: the link is not affected.
final class DatagramFlow {
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
    private var packets = DatagramPackets()

    init(of peer: LinkedPeer, port: DatagramPort, host: SocketAddress.Host, keyLog: KeyLog?) {
        self.peer = peer
        self.port = port
        self.host = host
        self.keyLog = keyLog
    }

    /// Whether packets wait for the socket to have room.
    var isBlocked: Bool { packets.isBlocked }

    var facts: ConnectionInfo.Datagrams {
        let counts = peer.datagramCounts
        return ConnectionInfo.Datagrams(
            isUp: sendQueue != nil, sent: counts.sent, received: counts.received,
            dropped: packets.dropped + counts.dropped)
    }
}

// MARK: - The engine's actions

extension DatagramFlow {
    /// Begins with a new key; nil for a plain link. The client sends first.
    func begin(
        _ begun: DatagramAction.Channel, _ key: SecureBytes?, _ engine: inout SessionEngine, at now: Moment
    ) {
        packets.begin(begun.header, to: SocketAddress(host, port: begun.port))
        guard let key else { return }
        attempt(&engine, at: now) { (engine) throws(SecurityFault) in
            let role: SecureChannel.Role = begun.isClient ? .client : .server  // [dgram.role]
            packets.use(try DatagramChannel(role: role, key: key, keyLog: keyLog))
            try packets.shake(peer, &engine, at: now)
        }
    }

    func drop() { packets.drop() }

    func retransmit(_ engine: inout SessionEngine, at now: Moment) {
        attempt(&engine, at: now) { (_) throws(SecurityFault) in try packets.retransmit() }
    }

    /// Sends a message of the engine's own.
    func send(_ own: [UInt8], _ engine: inout SessionEngine, at now: Moment) {
        attempt(&engine, at: now) { (_) throws(SecurityFault) in try packets.seal(own: own) }
    }

    private func attempt(
        _ engine: inout SessionEngine, at now: Moment,
        _ body: (inout SessionEngine) throws(SecurityFault) -> Void
    ) {
        do throws(SecurityFault) { try body(&engine) } catch { engine.datagrams.failed(of: peer, at: now) }
    }
}

// MARK: - Messages

extension DatagramFlow {
    func enqueue(_ messages: [[UInt8]]) {
        if queue.isEmpty { queue = messages[...] } else { queue += messages }
    }

    /// Returns the messages that were not sealed.
    func takeQueue() -> [[UInt8]] {
        defer { queue = [] }
        return Array(queue)
    }

    /// Seals and sends what waits, until nothing does, the socket is full or the engine refuses.
    func pump(_ engine: inout SessionEngine, at now: Moment) {
        var isRefused = false
        repeat {
            var sealed = DatagramPackets.Sealed()
            attempt(&engine, at: now) { (engine) throws(SecurityFault) in
                try packets.seal(queue, to: peer, &engine, at: now, counting: &sealed)
            }
            queue = sealed.count == queue.count ? [] : queue.dropFirst(sealed.count)
            packets.flush(through: port)
            sendQueue?.released(messages: sealed.count, bytes: sealed.bytes)
            isRefused = sealed.isRefused
        } while !queue.isEmpty && !packets.isBlocked && !isRefused
    }

    /// Takes what followed the header of a packet that the engine admits.
    func receive(
        _ body: Span<UInt8>, from source: SocketAddress, _ engine: inout SessionEngine, at now: Moment
    ) {
        do throws(SecurityFault) {
            try packets.receive(body, from: source, of: peer, &engine, at: now)
        } catch {
            engine.datagrams.failed(of: peer, at: now)
        }
    }

    /// What came since the last time.
    func takeIncomingMessages() -> IncomingBatch { packets.takeIncomingMessages() }
}
