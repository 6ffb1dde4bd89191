/// Multicast DNS of one session of the reference peer, on the loopback interface. Spec 12.2 to 12.6.
final class PeerDiscovery {
    unowned let session: PeerSession
    private let socket: DNSSocket
    private var responder: PeerResponder?
    private var browser: PeerBrowser?
    /// What is announced as gone, and when.
    private var goodbyes: [(due: Instant, message: DNSMessage)] = []
    private var lastTick = Instant.now

    init(_ session: PeerSession) throws(SuiteFault) {
        self.session = session
        socket = try DNSSocket()
        session.peer.loop.add(socket)
        socket.onPacket = { [unowned self] in take($0) }
    }

    var bug: Bug? { session.bug }

    /// * `number`: that of the code of its invitations.
    func advertise(_ type: String, _ port: UInt16, _ info: [String: String], _ number: UInt16?) {
        stopAdvertising()
        var info = info
        if let number, bug != .numberUnannounced { info["c"] = "\(number)" }
        responder = PeerResponder(self, type, port, info)
    }

    func browse(_ type: String) { browser = PeerBrowser(self, type) }
    func stopBrowsing() { browser = nil }

    /// Says goodbye three times. Spec 12.6.
    func stopAdvertising() {
        guard let responder else { return }
        self.responder = nil
        var message = DNSMessage(flags: DNSMessage.response)
        message.answers = responder.records.map { record in
            var record = record
            record.ttl = 0
            return record
        }
        send(message)
        for delay in bug == .goodbyeOnce ? [] : [80, 160] {
            goodbyes.append((.now + .milliseconds(delay), message))
        }
    }

    /// Whether nothing is left to be sent.
    var isDone: Bool { goodbyes.isEmpty }

    func close() { session.peer.loop.remove(socket) }

    func send(_ message: DNSMessage, to port: UInt16? = nil) { socket.send(message.bytes, to: port) }

    func tick(_ now: Instant) {
        // Not called for so long: the process was suspended.
        if now - lastTick > .seconds(5), bug != .resumesSilently {
            responder?.announce()
            browser?.begin()
        }
        lastTick = now
        for goodbye in goodbyes where goodbye.due <= now { send(goodbye.message) }
        goodbyes.removeAll { $0.due <= now }
        responder?.tick(now)
        browser?.tick(now)
    }

    private func take(_ packet: DNSSocket.Packet) {
        guard let message = try? DNSMessage(packet.bytes, bug: bug) else { return }
        guard message.isResponse else {
            responder?.answer(message, packet.port)
            if packet.port == 5_353 { browser?.hear(question: message) }
            return
        }
        guard packet.port == 5_353 || bug == .takesAnyPort else { return }
        responder?.hear(message)
        browser?.hear(message)
    }
}
