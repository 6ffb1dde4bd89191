/// The datagrams of one link of the reference peer: an offer, a handshake, a path. Spec 10.
final class PeerDatagrams {
    private unowned let link: PeerLink
    private var socket: UDPSocket?
    private var mine: DatagramOffer?
    private var theirs: DatagramOffer?
    private var dtls: DTLSEnd?
    private var sequence: UInt32 = 0
    /// The newest sequence that was received, and which of the 64 up to it were.
    private var newest: UInt32?
    private var seen: Set<UInt32> = []
    /// The port to which datagrams are sent.
    private var port: UInt16 = 0
    private var isUp = false
    private var pinged: [UInt8]?
    /// Since when something was sent and nothing came.
    private var silence: Instant?
    private var isAsking = false
    private var lastPing = Instant.now
    private var nextPing = Instant.now
    private var failures = 0
    private var wasUp = false
    private var began = Instant.now
    /// When the first content of an attempt came, and the last one.
    private var contents: (first: Instant, last: Instant)?
    private var rests: Instant?
    /// What was received while the application takes nothing, at most 1 MiB of it.
    private var waiting: [[UInt8]] = []
    private var held = 0

    private static let nothing = [UInt8](repeating: 0, count: 8)
    private static let memory = 1 << 20

    init(_ link: PeerLink) { self.link = link }

    private var bug: Bug? { link.bug }
    private var isTLS: Bool { link.connection.tls != nil }

    // MARK: Offers

    /// Sends the port for datagrams, with a new association.
    func offer() {
        guard bug != .datagramsNever, let socket = socket ?? (try? UDPSocket()) else { return }
        if self.socket == nil { link.session.peer.loop.add(socket) }
        self.socket = socket
        socket.onPacket = { [weak self] in self?.take($0) }
        let offer = DatagramOffer(association: link.session.peer.randomBytes(8), port: socket.port)
        mine = offer
        link.send(offer.frame)
        restart()
    }

    func take(_ frame: Frame) throws(ProtocolError) {
        if bug == .ignoresNewDgram, theirs != nil { return }
        do throws(Malformed) { theirs = try DatagramOffer(frame) } catch { throw .broken("\(error)") }
        guard rests != nil else { return restart() }
        if theirs?.port ?? 0 > 0 { offer() }
    }

    /// Starts again with the two current associations, once both exist.
    private func restart() {
        (isUp, dtls, pinged, rests) = (false, nil, nil, nil)
        if bug == .sequenceBeginsAgain { sequence = 0 }
        (silence, isAsking, contents) = (nil, false, nil)
        guard let mine, let theirs, theirs.port > 0, theirs.association != PeerDatagrams.nothing else {
            return
        }
        (port, began, nextPing) = (theirs.port, .now, .now)
        guard let tls = link.connection.tls else { return }
        let pair = [mine.association, theirs.association]
        let context = (link.isControlling ? pair : pair.reversed()).flatMap(\.self)
        let key = tls.exported(
            "EXPORTER-mpc1-datagram", context: bug == .dgramKeyUnbound ? [] : context)
        let isServer = link.isControlling == (bug == .dgramRoleSwapped)
        dtls = try? DTLSEnd(isServer: isServer, key: key)
        if bug == .renegotiates { dtls?.allowRenegotiation() }
        shakeHands()
    }

    func end() {
        if let socket { link.session.peer.loop.remove(socket) }
        socket = nil
    }

    // MARK: Sending

    /// Returns whether the message was sent this way.
    func send(_ message: [UInt8]) -> Bool {
        var most = bug == .datagramsTooLong ? Datagram.longest - 50 + 5 : Datagram.longestMessage
        if bug == .datagramsOversized, message.count > 1_190 { most = 1_400 }
        if bug == .datagramsWithoutPath, !isUp { return true }
        guard isUp, message.count <= most else { return false }
        put(Content(Content.Tag.message, next(), message))
        if silence == nil {
            silence = .now
            nextPing = min(nextPing, .now + .milliseconds(500))
        }
        return true
    }

    private func next() -> UInt32 {
        defer { sequence &+= 1 }
        return sequence
    }

    private func put(_ content: Content) {
        guard isTLS else { return put(Datagram.plain, content.bytes) }
        dtls?.write(content.bytes)
        flush()
    }

    private func put(_ kind: UInt8, _ body: [UInt8]) {
        guard let theirs else { return }
        let association = bug == .ownAssociation ? mine?.association : theirs.association
        socket?.send(Datagram.packet(kind, association ?? [], body), to: port)
    }

    private func flush() { for record in dtls?.drainOutput() ?? [] { put(Datagram.dtls, record) } }

    private func shakeHands() {
        dtls?.shakeHands()
        flush()
    }

    // MARK: Time

    func tick(_ now: Instant) {
        deliver()
        if let rests {
            if now >= rests { offer() }
            return
        }
        guard let theirs, theirs.port > 0, mine != nil else { return }
        if let dtls, dtls.progress == .underWay {
            if bug == .failedDatagramsEndLink, now - began > .seconds(2) {
                return link.end("ruleBroken", .internal, saying: .internal)
            }
            if bug != .neverRetransmits { dtls.repeatFlight() }
            flush()
        }
        if !isUp, now - began > .seconds(10) { return rest(now) }
        if !isUp, let contents, bug != .attemptOutlastsSilence,
            now - contents.last >= max(.milliseconds(1_750), (contents.first - began) * 4)
        {
            return offer()
        }
        if isUp, let silence, now - silence >= .milliseconds(1_750), bug != .pathIsNeverDown {
            return offer()
        }
        guard dtls == nil ? !isTLS : dtls?.progress == .established, now >= nextPing else { return }
        if isUp, bug == .neverPingsAgain { return }
        let opaque = link.session.peer.randomBytes(8)
        (pinged, lastPing) = (opaque, now)
        nextPing = now + (isUp ? .milliseconds(isAsking ? 125 : 250) : .milliseconds(100))
        (silence, isAsking) = (silence ?? now, true)
        put(Content(Content.Tag.ping, next(), opaque))
    }

    /// Gives up, says so, and waits before the next try.
    private func rest(_ now: Instant) {
        isUp = false
        failures += 1
        let pause = min(1 << min(failures - 1, 5), wasUp ? 2 : 30) + (link.isControlling ? 0 : 1)
        rests = now + .seconds(pause)
        if bug != .givesUpSilently {
            link.send(DatagramOffer(association: PeerDatagrams.nothing, port: 0).frame)
        }
    }

    // MARK: Arrivals

    /// Makes the checks of 10.7, in order; a packet that fails one is dropped.
    private func take(_ packet: UDPSocket.Packet) {
        let bytes = packet.bytes
        if bug == .followsAnybody { port = packet.port }
        guard bytes.count <= Datagram.longest, bytes.count > Datagram.headerCount, let mine else { return }
        let isOurs = Array(bytes[1..<9]) == mine.association
        if bug == .answersUnknown, !isOurs { return answer(packet) }
        guard isOurs, bytes[0] == (isTLS ? Datagram.dtls : Datagram.plain) || bug == .datagramsOfAnyKind
        else { return }
        let body = Array(bytes.dropFirst(Datagram.headerCount))
        guard isTLS else { return take(content: body, from: packet.port) }
        guard let dtls else { return }
        let isShaking = dtls.progress == .underWay
        if bug == .stopsReadingHandshakes, !isShaking, [20, 22].contains(body[0]) { return }
        dtls.take(body)
        if isShaking {
            shakeHands()
            if dtls.progress == .established { began = .now }
        }
        for content in dtls.read() { take(content: content, from: packet.port) }
        flush()
    }

    private func answer(_ packet: UDPSocket.Packet) {
        socket?.send(packet.bytes, to: packet.port)
    }

    private func take(content bytes: [UInt8], from source: UInt16) {
        guard let content = try? Content(bytes), isNew(content.sequence) else { return }
        if bug != .onlyPongsCount || content.kind == Content.Tag.pong { heard() }
        if isTLS, content.sequence == newest, bug != .keepsFirstAddress { port = source }
        switch content.kind {
        case Content.Tag.ping: put(Content(Content.Tag.pong, next(), content.body))
        case Content.Tag.pong:
            guard content.body == pinged else { return }
            pinged = nil
            (isUp, wasUp, failures) = (true, true, 0)
            nextPing = lastPing + .seconds(5)
        default:
            let cost = content.body.count + 64
            guard held + cost <= PeerDatagrams.memory || bug == .datagramsWithoutLimit else { return }
            held += cost
            waiting.append(content.body)
            deliver()
        }
    }

    private func heard() {
        (silence, isAsking) = (nil, false)
        contents = (contents?.first ?? .now, .now)
        if isUp { nextPing = lastPing + .seconds(5) }
    }

    private func isNew(_ sequence: UInt32) -> Bool {
        if bug == .datagramsTwice { return true }
        let last = newest ?? sequence
        let step = Int32(bitPattern: sequence &- last)
        let isHalf = step == .min && bug == .sequenceHalfAhead
        guard step > -64 || isHalf, !seen.contains(sequence) else { return false }
        seen.insert(sequence)
        if step > 0 || newest == nil { newest = sequence }
        if step > 0 { seen = seen.filter { Int32(bitPattern: $0 &- sequence) > -64 } }
        return true
    }

    private func deliver() {
        while !link.session.application.isPaused, !waiting.isEmpty {
            let message = waiting.removeFirst()
            held -= message.count + 64
            link.session.application.deliver(message, from: link.uid, mode: "unreliable")
        }
    }
}
