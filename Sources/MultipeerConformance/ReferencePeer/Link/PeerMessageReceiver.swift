/// The messages that a link receives, what is held of them, and the credit that is returned for them. Spec 8 and 15.2.
final class PeerMessageReceiver {
    private unowned let link: PeerLink
    private var reassembly: [UInt8] = []
    private(set) var reassemblyCost: UInt64 = 0
    private var received: UInt64 = 0
    private var granted: UInt64
    private var taken: UInt64 = 0
    private var lastGrant: Instant
    /// Messages that the application has not taken.
    private var waiting: [(bytes: [UInt8], cost: UInt64)] = []
    /// With a bug: a message that is delivered after the next one.
    private var delayed: [UInt8]?
    private var messages = 0
    private var turnBegan: Instant
    private var turnBytes = 0

    init(_ link: PeerLink) {
        self.link = link
        granted = UInt64(link.session.window.messageCredit)
        lastGrant = link.began
        turnBegan = link.began
    }

    private var session: PeerSession { link.session }
    private var bug: Bug? { link.bug }

    var isEmpty: Bool { waiting.isEmpty }
    /// The cost of messages that the application has not taken.
    var waitingCost: UInt64 { waiting.reduce(0) { $0 + $1.cost } }
    /// Whether a part of a message was received.
    var isReassembling: Bool { !reassembly.isEmpty }

    func take(_ frame: Frame) throws(ProtocolError) {
        try spend(frame.cost)
        let isPart = frame.kind == .part
        try demand(
            !isPart || frame.payload.count >= 1_024 || bug == .partSizeUnchecked, .flood, "a tiny MSG_PART")
        reassembly += frame.payload
        reassemblyCost += frame.cost
        turnBytes += frame.payload.count
        let isShort = UInt64(reassembly.count) <= session.limits.message
        try demand(isShort || bug == .messageUnbounded, .tooLarge, "a message of more than max_message")
        if session.turn == nil { beginTurn() }
        if !isPart { complete() }
        returnCredit()
    }

    func complete() {
        var bytes = reassembly
        let cost = reassemblyCost
        if bug == .cutsLastByte, !bytes.isEmpty { bytes.removeLast() }
        reassembly = []
        reassemblyCost = 0
        if session.turn === link { session.turn = nil }
        messages += 1
        let isLost =
            bug == .losesAMessage && messages % 100 == 0 || bug == .dropsEmptyMessage && bytes.isEmpty
        if isLost {
            taken += cost
        } else if bug == .reordersMessages, messages % 100 == 0, delayed == nil {
            delayed = bytes
            taken += cost
        } else {
            waiting.append((bytes, cost))
            if let delayed { waiting.append((delayed, 0)) }
            delayed = nil
            deliver()
        }
    }

    /// Lets the application take the messages that wait.
    func deliver() {
        while !session.application.isPaused, !waiting.isEmpty {
            let (bytes, cost) = waiting.removeFirst()
            taken += cost
            session.application.deliver(bytes, from: link.uid)
        }
    }

    // MARK: Credit

    /// Counts the cost of messages and OPEN.
    func spend(_ cost: UInt64) throws(ProtocolError) {
        received += bug == .costOffBy64 ? cost - min(cost, 64) : cost
        try demand(received <= granted || bug == .noCreditCheck, .flow, "beyond the credit of messages")
    }

    /// Returns the credit of what the application has taken or declined.
    func returned(_ cost: UInt64) {
        taken += cost
        returnCredit()
    }

    func returnCredit() {
        var can = taken + UInt64(session.limits.messageCredit)
        let hasTurn = session.turn === link || bug == .twoLongMessages
        if hasTurn, bug != .longMessageStalls { can += reassemblyCost }
        if bug == .returnsCreditOnArrival { can = received + UInt64(session.limits.messageCredit) }
        let part: UInt32 = bug == .creditAtHalf ? 2 : 4
        guard can >= granted + UInt64(max(1, session.limits.messageCredit / part)) else { return }
        if bug == .creditLate, .now - lastGrant < .seconds(3) { return }
        lastGrant = .now
        granted = can
        link.send(.credit(can))
    }

    // MARK: The turn

    private func beginTurn() {
        session.turn = link
        turnBegan = .now
        turnBytes = 0
    }

    /// Checks that the link with the turn uses it while others wait. Spec 15.2.
    func keepTurn(_ now: Instant) {
        if session.turn == nil, reassemblyCost > 0 {
            beginTurn()
            returnCredit()
        }
        if bug == .turnWithoutEnd { return }
        guard session.turn === link, now - turnBegan >= .seconds(5) else { return }
        let others = session.links.values.contains { $0 !== link && $0.inbox.reassemblyCost > 0 }
        if others, turnBytes < min(65_536, Int(session.limits.messageCredit)), granted > received {
            link.end("ruleBroken", .flow, saying: .flow)
        } else {
            turnBegan = now
            turnBytes = 0
        }
    }
}
