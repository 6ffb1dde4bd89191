import MultipeerSecurity

/// A link of the reference peer: the dispatch of its frames, and its end. Spec 7, 14 and 15.
final class PeerLink: PeerConnection.Owner {
    unowned let session: PeerSession
    let connection: PeerConnection
    let endpoint: Endpoint
    /// The connection data that is held of the peer; the first is that of this link.
    var held: [ReceivedConnectionData]
    let isMesh: Bool
    let isControlling: Bool
    /// The peer's limits.
    let theirs: Limits
    let began = Instant.now

    private var budget = ControlBudget()
    private(set) lazy var inbox = PeerMessageReceiver(self)
    private(set) lazy var outbox = PeerMessageSender(self)
    private(set) lazy var liveness = PeerLiveness(self)
    lazy var channels = PeerChannels(self)
    lazy var code = PeerVerificationCode(self)
    private(set) lazy var datagrams = PeerDatagrams(self)
    /// Whether MEMBERS was received on it.
    var hasEntry = false
    /// Whether any frame has come since SELECTED.
    private(set) var wasUsed = false
    var memberBucket = FrameTokenBucket(size: 256, perSecond: 20)

    init(
        _ session: PeerSession, _ candidate: PeerCandidate, _ held: ReceivedConnectionData,
        _ mine: IssuedConnectionData, _ hello: Hello,
        known: [ReceivedConnectionData]
    ) {
        self.session = session
        connection = candidate.connection
        endpoint = held.data.endpoint
        self.held = [held] + known.filter { $0.bytes != held.bytes }
        isMesh = candidate.isMesh
        isControlling = candidate.isControlling
        theirs = hello.limits
        connection.owner = self
        if bug != .neverGreasesFrames {
            connection.send(Frame(FrameKind(bug == .sendsReservedKind ? 0x90 : 0xBA), channel: 7, [0x5a]))
        }
        datagrams.offer()
    }

    var bug: Bug? { session.bug }
    var uid: [UInt8] { endpoint.uid }

    func hold(_ more: ReceivedConnectionData) {
        if !held.contains(where: { $0.bytes == more.bytes }) { held.append(more) }
    }

    func send(_ frame: Frame) {
        liveness.lastSent = .now
        budget.earn(frame)
        connection.send(frame)
    }

    // MARK: Frames

    func ready(_ connection: PeerConnection) {}

    func admit(_ header: FrameHeader, on connection: PeerConnection) throws(ProtocolError) -> Bool {
        let fits = header.length <= Frame.longest || bug == .frameLimitUnchecked
        try demand(fits, "a frame of \(header.length) bytes")
        guard try FrameRules(bug: bug).isKnown(header) else {
            try countControl()
            return false
        }
        let never: Set<FrameKind> = [.hello, .confirm, .select, .selected, .invite, .answer, .complete]
        try demand(!never.contains(header.kind), "\(header.kind) on a link")
        try FrameRules(bug: bug).check(header)
        return true
    }

    func take(_ frame: Frame, from connection: PeerConnection) throws(ProtocolError) {
        budget.earn(frame)
        wasUsed = true
        switch frame.kind {
        case .message, .part: try inbox.take(frame)
        case .ping:
            try countControl()
            outbox.pong(bug == .pongOtherBytes ? frame.payload.reversed() : frame.payload)
        case .pong: try liveness.takePong(frame.payload)
        case .credit:
            if bug != .creditsWithoutLimit { try countControl() }
            try frame.channel == 0 ? outbox.grow(frame.payload.number) : channels.take(frame)
        case .open, .data, .fin, .reset, .stop, .done, .resume, .begin: try channels.take(frame)
        case .members: try session.mesh.take(frame.payload, from: self)
        case .datagrams:
            try countControl()
            try datagrams.take(frame)
        case .codeRequest, .codeCommit, .codeNonce, .codeReveal, .codeResult:
            try countControl()
            try code.take(frame)
        default: throw .broken("\(frame.kind) on a link")
        }
    }

    /// Counts a control frame: each takes a token from the bucket of its sender. Spec 15.2.
    func countControl() throws(ProtocolError) {
        try demand(budget.take() || bug == .pingsWithoutLimit, .flood, "too many control frames")
    }

    func tick(_ now: Instant) {
        connection.tick(now)
        guard liveness.isAlive(now) else { return end("timeout", .timeout, saying: .timeout) }
        inbox.deliver()
        inbox.returnCredit()
        outbox.tick(now)
        datagrams.tick(now)
        inbox.keepTurn(now)
        channels.returnOpened()
        self.code.tick(now)
        outbox.pour()
    }

    // MARK: The end

    func ended(_ connection: PeerConnection, _ ending: PeerConnection.Ending) {
        switch ending {
        case .closed(.wrongCode) where bug == .sasNoIsGoodbye: over("closedByPeer", .goodbye)
        case .closed(let code): over("closedByPeer", code)
        case .refused(let refusal): over("ruleBroken", refusal.code)
        case .lost:
            if bug == .truncationDelivers, inbox.isReassembling { inbox.complete() }
            over(
                bug == .truncationDelivers ? "closedByPeer" : "lost",
                bug == .truncationDelivers ? .goodbye : nil)
        }
    }

    /// Closes the link for a reason of this end.
    func end(_ reason: String, _ code: CloseCode?, saying said: CloseCode) {
        guard session.links[uid] === self else { return }
        connection.close(said)
        over(reason, code)
    }

    /// Ends the connection without CLOSE.
    func drop(_ reason: String) {
        connection.discard()
        over(reason, nil)
    }

    private func over(_ reason: String, _ code: CloseCode?) {
        guard session.links[uid] === self else { return }
        session.links[uid] = nil
        if session.turn === self { session.turn = nil }
        if !inbox.isEmpty { session.application.keep(self) }
        if connection.stage != .ended { session.keepClosing(connection) }
        channels.ended()
        datagrams.end()
        if !outbox.isEmpty, bug != .forgetsUnsent {
            session.application.tell(
                "error", ["op": "send", "error": "INTERNAL", "reason": "not handed over"])
        }
        self.code.ended()
        session.application.tell("notConnected", of: uid, reason: reason, code: code)
        if reason == "lost" { session.resume(self) }
        session.mesh.unlinked(self, reason, code)
    }
}
