import MultipeerCore
import MultipeerFraming
import MultipeerLink
import MultipeerSecurity

/// The unreliable messages of one link: its path, its keys, and what waits in either direction. Lives on the loop.
///
/// Whatever fails here is told to the path, which decides when to begin anew: the link never suffers.
final class DatagramLane {
    /// What the application may leave unread of one peer; what comes beyond is lost. [limit.datagrams]
    private static let mostUnread = 1_048_576
    /// What is sealed before it is handed to the socket.
    private static let sealing = 65_536
    /// Packets that wait for the socket; what would be put behind them is lost.
    private static let mostWaiting = 4 * sealing

    var path: DatagramPath
    let port: DatagramPort
    /// Set while messages may go this way.
    var outlet: Outlet<PathDown>?
    /// Messages that were taken from the outlet.
    private var queue: ArraySlice<[UInt8]> = []

    /// Where the link ends: the peer receives there, until it shows that it is elsewhere.
    private let host: SocketAddress.Host
    private let keyLog: KeyLog?
    private var remote: SocketAddress?
    private var channel: DatagramChannel?
    private var batch = DatagramBatch()
    private var content = ByteBuffer()
    private var arrivals = Arrivals()
    private var unread = 0

    private var sent = 0
    private var received = 0
    private var dropped = 0

    init(
        _ path: consuming DatagramPath, port: DatagramPort, host: SocketAddress.Host, keyLog: KeyLog?
    ) {
        self.path = path
        self.port = port
        self.host = host
        self.keyLog = keyLog
    }

    /// Whether packets wait for the socket to have room.
    var isBlocked: Bool { !batch.isEmpty }

    var facts: LinkFacts.Datagrams {
        LinkFacts.Datagrams(
            isUp: outlet != nil, sent: sent, received: received, dropped: dropped + path.dropped)
    }
}

// MARK: - What the path decides

extension DatagramLane {
    /// Begins with a new key; nil for a plain link. The client speaks first.
    func begin(_ key: SecureBytes?, at now: Moment) {
        drop()
        remote = path.remotePort.map { SocketAddress(host, port: $0) }
        guard let key else { return }
        attempt(at: now) { () throws(SecurityFault) in
            // The lower uid is the client. [dgram.role]
            channel = try DatagramChannel(
                role: path.isControlling ? .client : .server, key: key, keyLog: keyLog)
            try shake(at: now)
        }
    }

    func drop() {
        channel = nil
        batch.removeAll()
    }

    func retransmit(at now: Moment) {
        attempt(at: now) { () throws(SecurityFault) in
            try channel?.retransmit()
            gather()
        }
    }

    /// Sends a content of the path's own.
    func send(_ own: [UInt8], at now: Moment) {
        attempt(at: now) { () throws(SecurityFault) in
            try protect(own.span)
            gather()
        }
    }

    /// Answers whether the handshake is complete.
    @discardableResult
    private func shake(at now: Moment) throws(SecurityFault) -> Bool {
        let isDone = try channel?.handshake() ?? false
        path.handshakeMoved(flights: channel?.flight ?? 0, at: now)
        if isDone { path.established(at: now) }
        gather()
        return isDone
    }

    private func attempt(at now: Moment, _ body: () throws(SecurityFault) -> Void) {
        do throws(SecurityFault) { try body() } catch { path.failed(at: now) }
    }
}

// MARK: - Sending

extension DatagramLane {
    func enqueue(_ messages: [[UInt8]]) { queue += messages }

    /// Takes back what was not sealed.
    func takeQueue() -> [[UInt8]] {
        defer { queue = [] }
        return Array(queue)
    }

    /// Seals and sends what waits, until nothing does or the socket is full.
    func pump(at now: Moment) {
        repeat {
            let messages = seal(at: now)
            flush()
            outlet?.released(messages: messages.count, bytes: messages.bytes)
        } while !queue.isEmpty && batch.isEmpty && path.canCarry(0)
    }

    private func seal(at now: Moment) -> (count: Int, bytes: Int) {
        var (count, bytes) = (0, 0)
        attempt(at: now) { () throws(SecurityFault) in
            var room = Self.sealing - batch.byteCount
            while room > 0, let message = queue.first, path.canCarry(message.count) {
                queue.removeFirst()
                count += 1
                bytes += message.count
                room -= message.count + Self.overhead
                path.encode(message.span, into: &content)
                defer { content.removeAll() }
                try content.read { (bytes) throws(SecurityFault) in try protect(bytes) }
            }
            gather()
        }
        if queue.isEmpty { queue = [] }
        sent += count
        return (count, bytes)
    }

    /// A plain content is a packet at once; records are gathered when all are written. [dgram.mode]
    private func protect(_ content: Span<UInt8>) throws(SecurityFault) {
        if path.isProtected { try channel?.write(content) } else { append(content) }
    }

    private func gather() { channel?.withRecords { append($0) } }

    private func append(_ body: Span<UInt8>) {
        guard let header = path.header, batch.byteCount < Self.mostWaiting else {
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

extension DatagramLane {
    /// Takes what followed the header of a packet that the path admits.
    func receive(_ body: Span<UInt8>, from source: SocketAddress, at now: Moment) {
        guard path.isProtected else { return take(body, from: source, at: now) }
        attempt(at: now) { () throws(SecurityFault) in
            try channel?.receive(body)
            if channel?.isEstablished == false, try !shake(at: now) { return }
            while try channel?.read(into: &content) != nil {  // [dgram.read-on]
                content.read { take($0, from: source, at: now) }
                content.removeAll()
            }
            gather()
        }
    }

    private func take(_ content: Span<UInt8>, from source: SocketAddress, at now: Moment) {
        let verdict = path.receive(content, at: now)
        if verdict.movesPeer { remote = source }  // [dgram.address]
        guard verdict.isMessage else { return }
        let message = content.extracting(ContentHeader.byteCount..<content.count)
        let cost = MessageCredit.cost(message.count)
        guard unread + cost <= Self.mostUnread else {  // [limit.datagrams]
            dropped += 1
            return
        }
        unread += cost
        received += 1
        arrivals.append(message, cost: cost)
    }

    /// What came since the last time.
    func takeArrivals() -> [IncomingMessage] { arrivals.takeAll() }

    /// The application has taken so much.
    func consumed(_ cost: Int) { unread -= cost }
}

/// Messages that came together share one allocation.
private struct Arrivals {
    private var chunk: [UInt8] = []
    private var places: [(range: Range<Int>, cost: Int)] = []

    mutating func append(_ message: Span<UInt8>, cost: Int) {
        let start = chunk.count
        chunk.append(copying: message)
        places.append((start..<chunk.count, cost))
    }

    mutating func takeAll() -> [IncomingMessage] {
        if places.isEmpty { return [] }
        defer {
            chunk = []
            places.removeAll(keepingCapacity: true)
        }
        return places.map { IncomingMessage(chunk, $0.range, cost: $0.cost) }
    }
}
