/// Messages and their credit, both ways. Spec 8.
extension PeerLink {
    // MARK: Messages that come

    func takeMessage(_ frame: Frame) throws(Refusal) {
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

    func beginTurn() {
        session.turn = self
        turnBegan = .now
        turnBytes = 0
    }

    func complete() {
        var bytes = reassembly
        let cost = reassemblyCost
        if bug == .cutsLastByte, !bytes.isEmpty { bytes.removeLast() }
        reassembly = []
        reassemblyCost = 0
        if session.turn === self { session.turn = nil }
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

    /// The application takes what waits.
    func deliver() {
        while !session.isPaused, !waiting.isEmpty {
            let (bytes, cost) = waiting.removeFirst()
            taken += cost
            session.deliver(bytes, from: uid)
        }
    }

    /// Counts what was spent on messages and OPEN.
    func spend(_ cost: UInt64) throws(Refusal) {
        received += bug == .costOffBy64 ? cost - min(cost, 64) : cost
        try demand(received <= granted || bug == .noCreditCheck, .flow, "beyond the credit of messages")
    }

    /// The application has taken, or declined, what cost so much.
    func returned(_ cost: UInt64) {
        taken += cost
        returnCredit()
    }

    func returnCredit() {
        var can = taken + UInt64(session.limits.messageCredit)
        let hasTurn = session.turn === self || bug == .twoLongMessages
        if hasTurn, bug != .longMessageStalls { can += reassemblyCost }
        if bug == .returnsCreditOnArrival { can = received + UInt64(session.limits.messageCredit) }
        guard can >= granted + UInt64(max(1, session.limits.messageCredit / 4)) else { return }
        if bug == .creditLate, .now - lastGrant < .seconds(3) { return }
        lastGrant = .now
        granted = can
        send(.credit(can))
    }

    // MARK: Messages that go

    var isBacklogged: Bool { connection.unsent > 65_536 }

    /// Bytes of messages that wait.
    var queued: Int { outbox.reduce(0) { $0 + $1.count } - position }

    func post(_ bytes: [UInt8]) {
        outbox.append(bytes)
        pour()
    }

    func grow(_ new: UInt64) throws(Refusal) {
        try demand(new > limit || bug == .creditMayShrink, "a limit that does not grow")
        limit = new
        pour()
    }

    /// What may be spent on a payload now.
    var room: Int { limit > spent + 64 ? Int(min(limit - spent - 64, 1 << 40)) : 0 }

    /// Spends credit of messages on OPEN; false if there is none.
    func pay(_ cost: UInt64) -> Bool {
        guard spent + cost <= limit else { return false }
        spent += cost
        return true
    }

    /// Hands over messages, then channels, as long as little waits.
    func pour() {
        repeat {
            var pieces = 0
            let mayGo = bug != .messagesBehindResources || !channels.isSendingResource
            while mayGo, pieces < 8, !isBacklogged, sendPiece() { pieces += 1 }
            if isBacklogged || (pieces == 0 && !channels.sendPiece()) { return }
            if pieces > 0 { for _ in 0..<4 where !isBacklogged { if !channels.sendPiece() { break } } }
        } while true
    }

    private func sendPiece() -> Bool {
        guard let message = outbox.first else { return false }
        let left = message.count - position
        let room = bug == .sendsBeyondCredit ? 1 << 30 : limit >= spent + 64 ? self.room : -1
        let size = min(left, 16_376, room)
        guard size == left || size >= 1_024 else { return false }
        let piece = Array(message[position..<(position + size)])
        lastPiece = .now
        let frame = size == left ? Frame.message(piece) : Frame.part(piece)
        spent += bug == .costWithoutOverhead ? frame.cost - 64 : frame.cost
        send(frame)
        position += size
        if size == left {
            outbox.removeFirst()
            position = 0
        }
        return true
    }

    // MARK: The turn

    /// Who has the turn must use it while others wait. Spec 15.2.
    func keepTurn(_ now: Instant) {
        if session.turn == nil, reassemblyCost > 0 {
            beginTurn()
            returnCredit()
        }
        if bug == .turnWithoutEnd { return }
        guard session.turn === self, now - turnBegan >= .seconds(5) else { return }
        let others = session.links.values.contains { $0 !== self && $0.reassemblyCost > 0 }
        if others, turnBytes < 65_536, granted > received {
            end("ruleBroken", .flow, saying: .flow)
        } else {
            turnBegan = now
            turnBytes = 0
        }
    }
}
