/// The tester's end of the datagrams of one link: it sends offers, does the handshake, answers pings, and keeps what it
/// receives. Spec 10.
final class DatagramPeer {
    let link: TesterLink
    let caseRun: CaseRun
    let socket: UDPSocket
    private(set) var mine: DatagramOffer
    private(set) var theirs: DatagramOffer?
    private(set) var dtls: DTLSEnd?
    private var sequence: UInt32 = 0
    /// Contents that were received, without pings and pongs.
    private(set) var messages: [[UInt8]] = []
    /// All packets as they were received.
    private(set) var packets: [UDPSocket.Packet] = []
    /// Packets as they were sent.
    private(set) var sent: [[UInt8]] = []
    private var seen: Set<UInt32> = []
    /// Whether the subject has answered a ping of this pair: then the path is up for the tester.
    private(set) var hasPong = false
    private(set) var hasPing = false
    private(set) var pings = 0
    var answersPings = true
    /// Without its own pings, the subject receives nothing: silence after a content would end the attempt earlier.
    var sendsPings = true
    /// Decides whether a packet gets lost; the argument is true for an outgoing one.
    var loses: (Bool) -> Bool = { _ in false }
    /// A key to use instead of the right one.
    var wrongKey: [UInt8]?
    /// A rule of chapter 10 that was broken.
    private(set) var complaint: String?

    private var isTLS: Bool { link.connection.tls != nil }

    init(_ link: TesterLink) throws {
        self.link = link
        caseRun = link.caseRun
        socket = try UDPSocket()
        mine = DatagramOffer(association: link.caseRun.random.bytes(8), port: socket.port)
        caseRun.loop.add(socket)
        socket.onPacket = { [weak self] in self?.take($0) }
    }

    deinit { caseRun.loop.remove(socket) }

    /// Exchanges DGRAM both ways.
    func offer() throws {
        link.send(mine.frame)
        try awaitOffer()
    }

    /// Sends DGRAM with a new association.
    func offerAgain() throws {
        mine = DatagramOffer(association: caseRun.random.bytes(8), port: socket.port)
        _ = link.takeAll()
        try offer()
    }

    /// Begins again with the subject's last DGRAM.
    func adoptOffer() throws {
        theirs = link.lastOffer
        try begin()
    }

    private func awaitOffer() throws {
        // One with port 0 says that the subject rests; the tester's own makes it offer again.
        caseRun.loop.wait(.seconds(5)) { (link.lastOffer?.port ?? 0) > 0 || link.ending != nil }
        guard let offer = link.lastOffer else { throw CaseFailure("\(link.name): no DGRAM") }
        theirs = offer
        try caseRun.require(
            offer.association != [UInt8](repeating: 0, count: 8), "\(link.name): DGRAM without association")
        try begin()
    }

    /// Starts again with the two current associations.
    func begin() throws {
        guard let theirs else { throw SuiteFault("no DGRAM of the subject yet") }
        (hasPong, hasPing) = (false, false)
        dtls = nil
        guard let tls = link.connection.tls else { return ping() }
        let isLower = link.linkParameters.isControlling
        let associations =
            isLower ? mine.association + theirs.association : theirs.association + mine.association
        let key = wrongKey ?? tls.exported("EXPORTER-mpc1-datagram", context: associations)
        dtls = try DTLSEnd(isServer: !isLower, key: key)
        advance()
    }

    /// Waits until both ends have received a pong.
    func expectUp(within duration: Duration = .seconds(5)) throws {
        let deadline = ContinuousClock.now + duration
        while !(hasPong && hasPing), ContinuousClock.now < deadline {
            caseRun.loop.wait(until: min(deadline, .now + .milliseconds(100))) { hasPong && hasPing }
            tick()
        }
        try check()
        guard hasPong, hasPing else {
            throw CaseFailure("\(link.name): no path for datagrams within \(duration)")
        }
    }

    /// Sends what is due: repetitions of a flight, or of the first ping.
    func tick() {
        guard let dtls else { return hasPong || isTLS ? () : ping() }
        if dtls.progress == .underWay {
            dtls.repeatFlight()
            flush()
        } else if !hasPong {
            ping()
        }
    }

    /// Asks for another handshake on the existing connection.
    func renegotiate() {
        dtls?.renegotiate()
        flush()
    }

    func check() throws {
        if let complaint { throw CaseFailure("\(link.name): \(complaint)") }
    }

    // MARK: Sending

    func ping() {
        if sendsPings { send(Content(Content.Tag.ping, next(), caseRun.random.bytes(8))) }
    }

    func send(_ message: [UInt8]) { send(Content(Content.Tag.message, next(), message)) }

    func send(_ content: Content) {
        guard isTLS else { return put(Datagram.packet(Datagram.plain, association, content.bytes)) }
        dtls?.write(content.bytes)
        flush()
    }

    func next() -> UInt32 {
        defer { sequence &+= 1 }
        return sequence
    }

    var association: [UInt8] { theirs?.association ?? [UInt8](repeating: 0, count: 8) }

    /// Sends any bytes to the subject's port; from another socket, if one is given.
    func put(_ packet: [UInt8], from other: UDPSocket? = nil) {
        guard let theirs else { return }
        caseRun.log.add(.sent, "\(link.name): UDP, \(packet.count) bytes  \(TrafficLog.excerpt(packet))")
        sent.append(packet)
        if !loses(true) { (other ?? socket).send(packet, to: theirs.port) }
    }

    private func flush() {
        for record in dtls?.drainOutput() ?? [] { put(Datagram.packet(Datagram.dtls, association, record)) }
    }

    private func advance() {
        dtls?.shakeHands()
        flush()
        if dtls?.progress == .established, !hasPong { ping() }
    }

    // MARK: Arrivals

    func take(_ packet: UDPSocket.Packet) {
        if loses(false) { return }
        caseRun.log.add(
            .received, "\(link.name): UDP, \(packet.bytes.count) bytes  \(TrafficLog.excerpt(packet.bytes))")
        packets.append(packet)
        guard packet.bytes.count > Datagram.headerCount else { return complain("a datagram without body") }
        if packet.bytes.count > Datagram.longest {
            return complain("a datagram of \(packet.bytes.count) bytes")
        }
        // A packet of an earlier pair of associations.
        guard Array(packet.bytes[1..<9]) == mine.association else { return }
        let body = Array(packet.bytes.dropFirst(Datagram.headerCount))
        let kind = isTLS ? Datagram.dtls : Datagram.plain
        guard packet.bytes[0] == kind else { return complain("a datagram of kind \(packet.bytes[0])") }
        // This end has not begun yet with the subject's last DGRAM; the first ping or flight will be repeated.
        guard isTLS else {
            if link.lastOffer?.association == theirs?.association { take(content: body) }
            return
        }
        guard let dtls else { return }
        let wasUnderWay = dtls.progress == .underWay
        dtls.take(body)
        if wasUnderWay { advance() }
        for content in dtls.read() { take(content: content) }
        flush()
    }

    private func take(content bytes: [UInt8]) {
        let content: Content
        do throws(Malformed) { content = try Content(bytes) } catch { return complain("\(error)") }
        guard seen.insert(content.sequence).inserted else {
            return complain("sequence \(content.sequence) twice")
        }
        switch content.kind {
        case Content.Tag.ping:
            pings += 1
            guard answersPings else { return }
            hasPing = true
            send(Content(Content.Tag.pong, next(), content.body))
        case Content.Tag.pong: hasPong = true
        default: messages.append(content.body)
        }
    }

    private func complain(_ text: String) { complaint = complaint ?? text }

    /// Waits for the next message by UDP.
    func expectMessage(within duration: Duration = .seconds(5)) throws -> [UInt8] {
        caseRun.loop.wait(duration) { !messages.isEmpty }
        try check()
        guard !messages.isEmpty else {
            throw CaseFailure("\(link.name): no message by UDP within \(duration)")
        }
        return messages.removeFirst()
    }
}
