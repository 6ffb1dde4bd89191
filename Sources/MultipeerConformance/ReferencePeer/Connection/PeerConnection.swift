import MultipeerPlatform

typealias Instant = ContinuousClock.Instant

/// One TCP connection of the reference peer: TLS or the preface, then frames. Its owner interprets the frames.
final class PeerConnection: PollSource {
    enum Stage { case dialling, sniffing, securing, ready, closing, ended }

    /// What takes the frames of a connection.
    protocol Owner: AnyObject {
        /// TCP is connected, and TLS or both prefaces are done; called once.
        func ready(_ connection: PeerConnection) throws(ProtocolError)
        /// Makes checks 1 to 4 of 7.5; returns false for a frame that is to be skipped.
        func admit(_ header: FrameHeader, on connection: PeerConnection) throws(ProtocolError) -> Bool
        func take(_ frame: Frame, from connection: PeerConnection) throws(ProtocolError)
        /// The connection is over for the owner; called once.
        func ended(_ connection: PeerConnection, _ ending: Ending)
    }

    /// How a connection ended for its owner.
    enum Ending {
        /// The other end sent CLOSE.
        case closed(CloseCode)
        /// The other end broke a rule, and was sent its code.
        case refused(ProtocolError)
        case lost
    }

    weak var owner: (any Owner)?
    let loop: PollLoop
    let bug: Bug?
    let role: LinkKey.Role
    let began = Instant.now
    let socket: TCPSocket
    /// The address of the other end.
    let address: [UInt8]
    var stage: Stage
    var tls: TLSEnd?
    private let makeTLS: (() -> TLSEnd?)?
    private let takesPlain: Bool
    var outgoing: [UInt8] = []
    var sent = 0
    var incoming: [UInt8] = []
    private var awaitedPreface: ArraySlice<UInt8> = []
    var closeBy: Instant?
    var hasShutDown = false
    var hasFrame = false
    private var tlsMessages = FrameTokenBucket(size: 32, perSecond: 1)
    private(set) var lastArrival = Instant.now

    /// Creates a connection. `makeTLS` is nil where only a plain connection is allowed; `takesPlain` says whether one
    /// is allowed.
    init(
        _ socket: TCPSocket, _ role: LinkKey.Role, address: [UInt8], loop: PollLoop, bug: Bug?,
        takesPlain: Bool,
        makeTLS: (() -> TLSEnd?)?
    ) {
        self.socket = socket
        self.role = role
        self.address = address
        self.loop = loop
        self.bug = bug
        self.makeTLS = makeTLS
        self.takesPlain = takesPlain
        stage = role == .initiator ? .dialling : .sniffing
        loop.add(self)
    }

    var isPlain: Bool { tls == nil }
    var unsent: Int { outgoing.count - sent }
    var isOver: Bool { stage == .closing || stage == .ended }

    // MARK: PollSource

    var descriptor: Int32 { stage == .ended ? -1 : socket.descriptor }
    // A peer that leaves answers unread is not read from. Spec 15.2.
    var wantsToRead: Bool {
        stage != .dialling && (unsent < 1 << 19 || stage == .closing || bug == .answersUnread)
    }
    var wantsToWrite: Bool { stage == .dialling || unsent > 0 }

    func move() {
        guard stage != .ended else { return }
        if stage == .dialling {
            guard socket.connectionFault == nil else { return finish(.lost) }
            begin()
        }
        flush()
        for _ in 0..<4 where stage != .ended && wantsToRead {
            switch socket.receive() {
            case .nothing: return
            case .bytes(let bytes): arrive(bytes)
            case .end: return stage == .closing ? discard() : finish(.lost)
            case .failed: return stage == .closing ? discard() : finish(.lost)
            }
        }
    }

    private func begin() {
        stage = .securing
        guard let makeTLS else { return beginPlain() }
        tls = makeTLS()
        guard tls != nil else { return finish(.lost) }
        shakeHands()
    }

    private func beginPlain() {
        awaitedPreface = TesterConnection.preface[...]
        outgoing += TesterConnection.preface
        flush()
    }

    private func arrive(_ bytes: [UInt8]) {
        lastArrival = .now
        if stage == .closing && bug != .deliversAfterClose { return }
        if stage == .sniffing, let first = bytes.first {
            // The first byte says which kind of connection it is. Spec 5.2.
            if first == 0x16, makeTLS != nil {
                begin()
            } else if first == TesterConnection.preface[0], takesPlain {
                stage = .securing
                beginPlain()
            } else {
                return finish(.lost)
            }
        }
        guard let tls else { return arrivePlain(bytes) }
        tls.take(bytes)
        shakeHands()
        while stage != .ended, tls.progress == .established {
            switch tls.read() {
            case .bytes(let plain):
                read(plain)
            case .nothing:
                attempt { () throws(ProtocolError) in try countMessages(of: tls) }
                return drain()
            case .closed, .failed:
                drain()
                return finish(.lost)
            }
        }
    }

    private func arrivePlain(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        while let expected = awaitedPreface.first, let byte = bytes.popFirst() {
            guard byte == expected || bug == .prefaceUnchecked else { return finish(.lost) }
            awaitedPreface.removeFirst()
            if awaitedPreface.isEmpty { becomeReady() }
        }
        read(Array(bytes))
    }

    private func shakeHands() {
        guard let tls else { return }
        tls.shakeHands()
        drain()
        if case .failed = tls.progress {
            if bug == .crashesOnBadTls { fatalError("bad TLS") }
            return finish(.lost)
        }
        if tls.progress == .established, stage == .securing { becomeReady() }
    }

    /// Counts what TLS received without data. Spec 5.3.
    private func countMessages(of tls: TLSEnd) throws(ProtocolError) {
        let messages = tls.takeMessages()
        try demand(messages.tickets == 0 || bug == .acceptsTickets, "a session ticket")
        for _ in 0..<messages.keyUpdates where bug != .keyUpdatesWithoutLimit {
            try demand(tlsMessages.take(), .flood, "too many key updates")
        }
    }

    private func becomeReady() {
        stage = .ready
        attempt { () throws(ProtocolError) in try owner?.ready(self) }
    }

    func drain() {
        outgoing += tls?.drainOutput() ?? []
        flush()
    }

    /// Carries out what a peer requested; a request that is refused ends the connection.
    func attempt(_ body: () throws(ProtocolError) -> Void) {
        do throws(ProtocolError) { try body() } catch { refuse(error) }
    }

    func refuse(_ refusal: ProtocolError) {
        guard !isOver else { return }
        if bug == .crashesOnBadList, refusal.isOfList { fatalError(refusal.text) }
        close(refusal.code, refusal.text)
        owner?.ended(self, .refused(refusal))
    }
}
