import MultipeerSecurity

/// A link of the judge's own peer: messages, credit, budgets and liveness. Spec 8, 14 and 15.
final class PeerLink: PeerConnection.Owner {
    unowned let session: PeerSession
    let connection: PeerConnection
    let endpoint: Endpoint
    /// The data that is held of the peer, what was used first.
    var held: [Held]
    let isMesh: Bool
    let isControlling: Bool
    /// What the peer is ready to receive.
    let theirs: Limits
    let began = Instant.now

    // What comes.
    var reassembly: [UInt8] = []
    var reassemblyCost: UInt64 = 0
    var received: UInt64 = 0
    var granted: UInt64
    var taken: UInt64 = 0
    var waiting: [(bytes: [UInt8], cost: UInt64)] = []
    var delayed: [UInt8]?
    var messages = 0
    var turnBegan = Instant.now
    var turnBytes = 0

    // What goes.
    var outbox: [[UInt8]] = []
    var position = 0
    var spent: UInt64 = 0
    var limit: UInt64
    var latePongs: [[UInt8]] = []
    var lastGrant = Instant.now
    var lastPiece = Instant.now

    // Budgets.
    var control = Bucket(size: 400, perSecond: 100)
    var traffic = 0

    // Liveness.
    var pinged: (opaque: [UInt8], at: Instant)?
    var lastPong: Instant?
    var lastLook = Instant.now
    var graceUntil: Instant?

    lazy var channels = PeerChannels(self)
    lazy var code = PeerCode(self)
    private(set) lazy var datagrams = PeerDatagrams(self)
    /// Whether MEMBERS has come on it.
    var hasEntry = false
    var memberBucket = Bucket(size: 256, perSecond: 20)

    init(
        _ session: PeerSession, _ candidate: PeerCandidate, _ held: Held, _ mine: Issued, _ hello: Hello,
        known: [Held]
    ) {
        self.session = session
        connection = candidate.connection
        endpoint = held.data.endpoint
        self.held = [held] + known.filter { $0.bytes != held.bytes }
        isMesh = candidate.isMesh
        isControlling = candidate.isControlling
        theirs = hello.limits
        limit = UInt64(hello.limits.messageCredit)
        granted = UInt64(session.window.messageCredit)
        connection.owner = self
        connection.send(Frame(Kind(bug == .sendsReservedKind ? 0x90 : 0xBA), channel: 7, [0x5a]))
        datagrams.offer()
    }

    var bug: Bug? { session.bug }
    var uid: [UInt8] { endpoint.uid }

    func hold(_ more: Held) {
        if !held.contains(where: { $0.bytes == more.bytes }) { held.append(more) }
    }

    func send(_ frame: Frame) {
        earn(frame)
        connection.send(frame)
    }

    // MARK: Frames

    func ready(_ connection: PeerConnection) {}

    func admit(_ header: FrameHeader, on connection: PeerConnection) throws(Refusal) -> Bool {
        let fits = header.length <= Frame.longest || bug == .frameLimitUnchecked
        try demand(fits, "a frame of \(header.length) bytes")
        guard try FrameRules(bug: bug).isKnown(header) else {
            try countControl()
            return false
        }
        let never: Set<Kind> = [.hello, .confirm, .select, .selected, .invite, .answer, .complete]
        try demand(!never.contains(header.kind), "\(header.kind) on a link")
        try FrameRules(bug: bug).check(header)
        return true
    }

    func take(_ frame: Frame, from connection: PeerConnection) throws(Refusal) {
        earn(frame)
        switch frame.kind {
        case .message, .part: try takeMessage(frame)
        case .ping:
            try countControl()
            let opaque = bug == .pongOtherBytes ? frame.payload.reversed() : frame.payload
            if bug == .pongBehindMessages { latePongs.append(opaque) } else { connection.send(.pong(opaque)) }
        case .pong: try takePong(frame.payload)
        case .credit:
            if bug != .creditsWithoutLimit { try countControl() }
            try frame.channel == 0 ? grow(frame.payload.number) : channels.take(frame)
        case .open, .data, .fin, .reset, .stop, .done: try channels.take(frame)
        case .members: try session.mesh.take(frame.payload, from: self)
        case .datagrams:
            try countControl()
            try datagrams.take(frame)
        case .codeRequest, .codeCommit, .codeNonce, .codeReveal:
            try countControl()
            try code.take(frame)
        default: throw .broken("\(frame.kind) on a link")
        }
    }

    /// Every control frame takes from the bucket of its sender. Spec 15.2.
    func countControl() throws(Refusal) {
        try demand(control.take() || bug == .pingsWithoutLimit, .flood, "too many control frames")
    }

    /// Traffic earns control frames, in either direction.
    func earn(_ frame: Frame) {
        traffic += frame.kind == .data ? frame.payload.count : Int(frame.cost)
        control.add(traffic / 16_384)
        traffic %= 16_384
    }

    // MARK: Liveness

    func ping() {
        let opaque = session.peer.randomBytes(8)
        pinged = (opaque, .now)
        send(.ping(opaque))
    }

    private func takePong(_ opaque: [UInt8]) throws(Refusal) {
        guard pinged?.opaque == opaque else {
            try demand(bug != .refusesStrayPong, "a PONG that answers nothing")
            return try countControl()
        }
        pinged = nil
        lastPong = .now
    }

    func tick(_ now: Instant) {
        connection.tick(now)
        if now - lastLook > .seconds(5), bug != .judgesAfterSuspension {
            graceUntil = now + .seconds(3)
            ping()
        }
        lastLook = now
        var silence = now - connection.lastArrival
        if bug == .wantsPongs { silence = max(silence, now - (lastPong ?? began)) }
        let hasAsked = pinged.map { $0.at > connection.lastArrival } ?? false
        if silence >= .seconds(3), !hasAsked, bug != .neverPings { ping() }
        let isSpared = graceUntil.map { now < $0 } ?? false
        if silence >= .seconds(10), !isSpared, bug != .neverDies {
            return end("timeout", .timeout, saying: .timeout)
        }
        if !session.isPaused, !waiting.isEmpty {
            deliver()
        }
        returnCredit()
        if outbox.isEmpty, now - lastPiece > .seconds(2), let pong = latePongs.popLast() {
            connection.send(.pong(pong))
        }
        datagrams.tick(now)
        keepTurn(now)
        pour()
    }

    // MARK: The end

    func ended(_ connection: PeerConnection, _ ending: PeerConnection.Ending) {
        switch ending {
        case .closed(let code): over("closedByPeer", code)
        case .refused(let refusal): over("ruleBroken", refusal.code)
        case .lost:
            if bug == .truncationDelivers, !reassembly.isEmpty { complete() }
            over(
                bug == .truncationDelivers ? "closedByPeer" : "lost",
                bug == .truncationDelivers ? .goodbye : nil)
        }
    }

    /// Closes the link for a reason of this end.
    func end(_ reason: String, _ code: Code?, saying said: Code) {
        guard session.links[uid] === self else { return }
        connection.close(said)
        over(reason, code)
    }

    /// Ends the connection without a word.
    func drop(_ reason: String) {
        connection.discard()
        over(reason, nil)
    }

    private func over(_ reason: String, _ code: Code?) {
        guard session.links[uid] === self else { return }
        session.links[uid] = nil
        if session.turn === self { session.turn = nil }
        if !waiting.isEmpty { session.former.append(self) }
        if connection.stage != .ended { session.closing.append(connection) }
        channels.ended()
        datagrams.end()
        if !outbox.isEmpty, bug != .forgetsUnsent {
            session.tell("error", ["op": "send", "error": "INTERNAL", "reason": "not handed over"])
        }
        self.code.ended()
        session.tell("notConnected", of: uid, reason: reason, code: code)
        session.mesh.unlinked(self, reason, code)
    }

}
