import MultipeerPlatform

/// One TCP connection between the tester and the subject, with TLS or in clear: bytes both ways, and
/// how it ended.
final class TesterConnection: PollSource {
    /// How a connection ended.
    enum Ending: Equatable, CustomStringConvertible {
        /// FIN; with TLS, close_notify before it.
        case closed
        /// FIN without close_notify.
        case truncated
        case reset
        /// It was never established: refused by TCP, or by TLS with this message.
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

    private enum Stage { case dialling, securing, ready }

    /// Its name in the log.
    let name: String
    /// Nil on a plain connection.
    let tls: TLSEnd?
    private let caseRun: CaseRun
    private let socket: TCPSocket
    private var stage: Stage
    private var outgoing: [UInt8] = []
    private var awaitedPreface = TesterConnection.preface[...]
    /// Takes the bytes of frames as they come. It keeps the reader alive until the connection has ended.
    private var take: ([UInt8]) -> Void = { _ in }

    private(set) var ending: Ending?
    /// The first bytes from the network, as they were received.
    private(set) var firstBytes: [UInt8] = []
    private(set) var receivedCount = 0
    /// Whether the socket is read at all.
    var isReading = true
    /// Whether what is received means nothing: the connection then ends only when the subject ends it.
    var isDeaf = false
    /// The rate at which it is read, if limited.
    private var pace: BandwidthLimit?

    static let preface = Array("MPCPLAIN".utf8)

    /// * `isDialled`: whether the tester has dialled, so that TCP may not be connected yet.
    /// * `sendsPreface`: whether a plain connection begins with its preface, as it must.
    init(
        _ name: String, _ socket: TCPSocket, isDialled: Bool, _ tls: TLSEnd?, in caseRun: CaseRun,
        sendsPreface: Bool
    ) {
        self.name = name
        self.socket = socket
        self.tls = tls
        self.caseRun = caseRun
        stage = isDialled ? .dialling : .securing
        if tls == nil {
            if sendsPreface { outgoing = TesterConnection.preface }
        } else {
            awaitedPreface = []
        }
    }

    /// Adds the connection to the loop, which passes what is received to `take`.
    func start(_ take: @escaping ([UInt8]) -> Void) {
        self.take = take
        let way = stage == .dialling ? "dialled" : "accepted"
        caseRun.log.add(.note, "\(name): \(way), \(tls == nil ? "plain" : "TLS")")
        caseRun.loop.add(self)
        if stage != .dialling { progress() }
    }

    /// Whether TCP is connected, and TLS or both prefaces are done.
    var isReady: Bool { stage == .ready }

    /// Bytes that wait because the kernel takes no more.
    var unsent: Int { outgoing.count }

    // MARK: PollSource

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
            case .bytes(let bytes): arrive(bytes)
            case .end: return finish()
            case .failed: return end(.reset)
            }
        }
    }

    /// Limits the connection to that many bytes a second: the rest waits at the sender.
    func narrow(to bytesPerSecond: Double) {
        socket.narrow()
        pace = BandwidthLimit(bytesPerSecond: bytesPerSecond)
    }

    // MARK: Receiving

    private func arrive(_ bytes: [UInt8]) {
        receivedCount += bytes.count
        pace?.spend(bytes.count)
        if firstBytes.count < 65_536 { firstBytes += bytes }
        if isDeaf { return }
        guard let tls else { return arrivePlain(bytes) }
        tls.take(bytes)
        progress()
        while ending == nil, tls.progress == .established {
            switch tls.read() {
            case .bytes(let plain): take(plain)
            case .nothing: return progress()
            case .closed: return end(.closed)
            case .failed(let words):
                progress()
                return end(.refused(words))
            }
        }
    }

    private func arrivePlain(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        while let expected = awaitedPreface.first, let byte = bytes.popFirst() {
            guard byte == expected else { return end(.refused("the preface is not MPCPLAIN")) }
            awaitedPreface.removeFirst()
        }
        if awaitedPreface.isEmpty { stage = .ready }
        take(Array(bytes))
    }

    // MARK: Sending

    func write(_ bytes: [UInt8]) {
        guard let tls else {
            outgoing += bytes
            return flush()
        }
        tls.write(bytes)
        outgoing += tls.drainOutput()
        flush()
    }

    /// Continues the TLS handshake, and sends its output.
    private func progress() {
        guard stage != .dialling, let tls else { return flush() }
        tls.shakeHands()
        outgoing += tls.drainOutput()
        if tls.progress == .established { stage = .ready }
        flush()
        if case .failed(let words) = tls.progress { end(.refused(words)) }
    }

    private func flush() {
        while stage != .dialling, !outgoing.isEmpty, ending == nil {
            guard let count = socket.send(outgoing[...]) else { return end(.reset) }
            if count == 0 { return }
            outgoing.removeFirst(count)
        }
    }

    /// Waits until the kernel has taken everything; returns whether it did in time.
    @discardableResult
    func flush(within duration: Duration) -> Bool {
        caseRun.loop.wait(duration) { outgoing.isEmpty || ending != nil } && outgoing.isEmpty
    }

    /// Updates the keys of the running connection. Spec 15.
    func updateKeys(isAsking: Bool) {
        tls?.updateKeys(isAsking: isAsking)
        progress()
    }

    /// Hands out a session ticket, as a TLS server. Spec 5.3.
    func sendTicket() {
        tls?.sendTicket()
        progress()
    }

    // MARK: The end

    /// Ends the connection properly: close_notify with TLS, then FIN.
    func close() {
        guard ending == nil else { return }
        tls?.close()
        outgoing += tls?.drainOutput() ?? []
        flush()
        caseRun.log.add(.sent, "\(name): closes")
        leave()
    }

    /// Sends FIN and nothing before it.
    func truncate() {
        caseRun.log.add(.sent, "\(name): FIN")
        leave()
    }

    /// Sends RST.
    func reset() {
        caseRun.log.add(.sent, "\(name): RST")
        socket.reset()
        leave()
    }

    /// Handles FIN.
    private func finish() {
        guard let tls else { return end(.closed) }
        if case .failed(let words) = tls.progress { return end(.refused(words)) }
        if tls.progress == .underWay { return end(.refused("end of the stream in the handshake")) }
        end(.truncated)
    }

    private func end(_ how: Ending) {
        guard ending == nil else { return }
        ending = how
        caseRun.log.add(.received, "\(name): \(how)")
        release()
    }

    private func leave() {
        guard ending == nil else { return }
        ending = .closed
        release()
    }

    private func release() {
        caseRun.loop.remove(self)
        socket.close()
        take = { _ in }
    }
}
