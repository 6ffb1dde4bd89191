/// The messages that a link sends, within the credit that the peer grants for them. Spec 8.
final class PeerMessageSender {
    private unowned let link: PeerLink
    private var messages: [[UInt8]] = []
    /// The number of bytes of the first message that were sent.
    private var position = 0
    private var spent: UInt64 = 0
    private var limit: UInt64
    private var lastPiece: Instant
    /// With a bug: PONGs that wait until no message waits.
    private var latePongs: [[UInt8]] = []

    init(_ link: PeerLink) {
        self.link = link
        limit = UInt64(link.theirs.messageCredit)
        lastPiece = link.began
    }

    private var bug: Bug? { link.bug }
    private var isBacklogged: Bool { link.connection.unsent > 65_536 }

    var isEmpty: Bool { messages.isEmpty }
    /// Bytes of messages that wait.
    var queued: Int { messages.reduce(0) { $0 + $1.count } - position }

    func post(_ bytes: [UInt8]) {
        messages.append(bytes)
        pour()
    }

    /// Answers PING with PONG.
    func pong(_ opaque: [UInt8]) {
        if bug == .pongAfterMessages {
            latePongs.append(opaque)
        } else {
            link.connection.send(.pong(opaque))
        }
    }

    func tick(_ now: Instant) {
        if isEmpty, now - lastPiece > .seconds(2), let pong = latePongs.popLast() {
            link.connection.send(.pong(pong))
        }
    }

    // MARK: Credit

    func grow(_ new: UInt64) throws(ProtocolError) {
        try demand(new > limit || bug == .creditMayShrink, "a limit that does not grow")
        limit = new
        pour()
    }

    /// The credit that may be spent on a payload now.
    private var room: Int { limit > spent + 64 ? Int(min(limit - spent - 64, 1 << 40)) : 0 }

    /// Spends message credit on OPEN; returns false if there is none.
    func pay(_ cost: UInt64) -> Bool {
        guard spent + cost <= limit else { return false }
        spent += cost
        return true
    }

    // MARK: Sending

    /// Writes messages, then channels, as long as little is unsent.
    func pour() {
        let channels = link.channels
        repeat {
            var pieces = 0
            let mayGo = bug != .messagesAfterResources || !channels.isSendingResource
            while mayGo, pieces < 8, !isBacklogged, sendPiece() { pieces += 1 }
            if bug == .messagesStarveStreams, pieces > 0 { continue }
            if isBacklogged || (pieces == 0 && !channels.sendPiece()) { return }
            guard pieces > 0 else { continue }
            for _ in 0..<4 where !isBacklogged {
                if !channels.sendPiece(isBetweenMessages: true) { break }
            }
        } while true
    }

    private func sendPiece() -> Bool {
        guard let message = messages.first else { return false }
        let left = message.count - position
        let room = bug == .sendsBeyondCredit ? 1 << 30 : limit >= spent + 64 ? self.room : -1
        let size = min(left, 16_376, room)
        guard size == left || size >= 1_024 else { return false }
        let piece = Array(message[position..<(position + size)])
        lastPiece = .now
        let frame = size == left ? Frame.message(piece) : Frame.part(piece)
        spent += bug == .costWithoutOverhead ? frame.cost - 64 : frame.cost
        link.send(frame)
        position += size
        if size == left {
            messages.removeFirst()
            position = 0
        }
        return true
    }
}
