import Glibc

/// One connection between the tester and the subject, at the level of frames. It does nothing by itself but answer
/// PING, and that only as long as it is told to; everything else a case says step by step.
final class Link: Source {
    /// How a connection ended.
    enum Ending: Equatable, CustomStringConvertible {
        /// FIN; with TLS, close_notify before it.
        case closed
        /// FIN without close_notify.
        case truncated
        case reset
        /// It never stood: refused by TCP, or by TLS with these words.
        case refused(String)

        var description: String {
            switch self {
            case .closed: "closed"
            case .truncated: "FIN without close_notify"
            case .reset: "RST"
            case .refused(let words): "refused (\(words))"
            }
        }
    }

    enum Stage { case dialling, securing, ready }

    /// What the log calls it.
    let name: String
    let trial: Trial
    let role: LinkKey.Role
    /// Nil on a plain connection.
    let tls: TLSEnd?
    let socket: TCPSocket
    var stage: Stage
    var outgoing: [UInt8] = []
    private var awaitedPreface = Link.preface[...]
    private var reader = FrameReader()
    var arrived: [Frame] = []
    var taken = 0

    var ending: Ending?
    /// The first bytes that came from the network, as they came.
    private(set) var firstBytes: [UInt8] = []
    private(set) var receivedCount = 0
    /// What has come on the last byte: for measuring silence.
    private(set) var lastArrival = ContinuousClock.now
    /// Whether PING is answered at once.
    var answersPings = true
    /// Whether the socket is read at all.
    var isReading = true
    /// How fast it is read, if not as fast as bytes come.
    private(set) var pace: Pace?

    /// What the subject lets the tester spend on messages, and what was spent. Spec 8.3.
    var limit: UInt64 = 0
    var spent: UInt64 = 0
    /// Bytes of messages that a case has sent so far, if it counts them.
    var sentBytes = 0
    /// What the subject's CREDIT says of the tester's channels. Spec 9.4.
    private(set) var channelLimits: [UInt32: UInt64] = [:]
    /// The subject's last DGRAM. Spec 10.2.
    private(set) var lastOffer: DatagramOffer?

    /// Whether credit for messages is returned as they come.
    var isGranting = true
    /// What the subject has spent, and how far the tester has let it.
    private var received: UInt64 = 0
    private var granted: UInt64

    // What the handshake needs; `Link+Handshake.swift`.
    var terms: Terms
    var sentHello: [UInt8] = []
    var receivedHello: Hello?
    var receivedHelloBytes: [UInt8] = []

    static let preface = Array("MPCPLAIN".utf8)

    /// * `sendsPreface`: whether a plain connection begins as it must.
    init(
        _ socket: TCPSocket, _ role: LinkKey.Role, _ tls: TLSEnd?, _ terms: Terms, in trial: Trial,
        sendsPreface: Bool = true
    ) {
        self.socket = socket
        self.role = role
        self.tls = tls
        self.terms = terms
        self.trial = trial
        granted = UInt64(terms.limits.messageCredit)
        name = trial.nextLinkName()
        stage = role == .initiator ? .dialling : .securing
        if tls == nil {
            if sendsPreface { outgoing = Link.preface }
        } else {
            awaitedPreface = []
        }
        trial.log.add(
            .note, "\(name): \(role == .initiator ? "dialled" : "accepted"), \(tls == nil ? "plain" : "TLS")")
        trial.pump.add(self)
        if role == .responder { progress() }
    }

    // MARK: Source

    var descriptor: Int32 { ending == nil ? socket.descriptor : -1 }
    var wantsToRead: Bool { isReading && stage != .dialling && pace.map { $0.room > 0 } ?? true }
    var wantsToWrite: Bool { stage == .dialling || !outgoing.isEmpty }

    func move() {
        if stage == .dialling {
            if let fault = socket.connectionFault {
                return end(.refused(unsafe String(cString: strerror(fault)).lowercased()))
            }
            stage = .securing
            progress()
        }
        flush()
        // A few pieces at a time, so that no connection keeps the others waiting.
        for _ in 0..<8 where ending == nil && wantsToRead {
            switch socket.receive(pace?.room ?? 65_536) {
            case .nothing: return
            case .bytes(let bytes): take(bytes)
            case .end: return finish()
            case .failed: return end(.reset)
            }
        }
    }

    /// From now on it is like a line that carries so many bytes a second: what has not come waits with the sender.
    func narrow(to bytesPerSecond: Double) {
        socket.narrow()
        pace = Pace(bytesPerSecond: bytesPerSecond)
    }

    private func finish() {
        guard let tls else { return end(.closed) }
        if case .failed(let words) = tls.progress { return end(.refused(words)) }
        if tls.progress == .underWay { return end(.refused("end of the stream in the handshake")) }
        end(.truncated)
    }

    func end(_ how: Ending) {
        guard ending == nil else { return }
        ending = how
        trial.log.add(.received, "\(name): \(how)")
        trial.pump.remove(self)
        socket.close()
    }

    private func take(_ bytes: [UInt8]) {
        lastArrival = .now
        receivedCount += bytes.count
        pace?.spend(bytes.count)
        if firstBytes.count < 65_536 { firstBytes += bytes }
        guard let tls else { return takePlain(bytes) }
        tls.take(bytes)
        progress()
        while ending == nil, tls.progress == .established {
            switch tls.read() {
            case .bytes(let plain): takeFrames(plain)
            case .nothing: return progress()
            case .closed: return end(.closed)
            case .failed(let words):
                progress()
                return end(.refused(words))
            }
        }
    }

    private func takePlain(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        while let expected = awaitedPreface.first, let byte = bytes.popFirst() {
            guard byte == expected else { return end(.refused("the preface is not MPCPLAIN")) }
            awaitedPreface.removeFirst()
        }
        if awaitedPreface.isEmpty { stage = .ready }
        takeFrames(Array(bytes))
    }

    private func takeFrames(_ bytes: [UInt8]) {
        reader.push(bytes)
        while let frame = reader.next() { arrive(frame) }
    }

    private func arrive(_ frame: Frame) {
        trial.log.add(.received, name, frame)
        if frame.kind == .ping, answersPings { send(.pong(frame.payload)) }
        if frame.kind == .credit, frame.channel == 0, let limit = frame.limit {
            self.limit = max(self.limit, limit)
        }
        received += frame.cost
        if isGranting, received > 0 { grant() }
        if frame.kind == .credit, frame.channel != 0, let limit = frame.limit {
            channelLimits[frame.channel] = limit
        }
        if frame.kind == .datagrams { lastOffer = try? DatagramOffer(frame) }
        if frame.kind == .hello { receivedHelloBytes = frame.bytes }
        arrived.append(frame)
    }

    /// Returns credit, if it is worth a frame: a quarter of what HELLO granted.
    func grant() {
        let initial = UInt64(terms.limits.messageCredit)
        guard received + initial >= granted + max(1, initial / 4) else { return }
        granted = received + initial
        send(.credit(granted))
    }

    /// Moves the TLS handshake on, and what it has to say.
    func progress() {
        guard stage != .dialling, let tls else { return flush() }
        tls.shakeHands()
        outgoing += tls.drainOutput()
        if tls.progress == .established { stage = .ready }
        flush()
        if case .failed(let words) = tls.progress { end(.refused(words)) }
    }

    func flush() {
        while stage != .dialling, !outgoing.isEmpty, ending == nil {
            guard let count = socket.send(outgoing[...]) else { return end(.reset) }
            if count == 0 { return }
            outgoing.removeFirst(count)
        }
    }
}

// MARK: - Arrivals

extension Link {
    var isReady: Bool { stage == .ready }

    /// What came and was not taken, in order.
    var waiting: ArraySlice<Frame> { arrived[taken...] }

    func takeFirst() -> Frame? {
        guard taken < arrived.count else { return nil }
        defer {
            taken += 1
            if taken > 1_000 {
                arrived.removeFirst(taken)
                taken = 0
            }
        }
        return arrived[taken]
    }
}
