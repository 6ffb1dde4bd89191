import MultipeerFraming

/// One channel of a link, and the state of it at each end.
final class SimulatedChannel {
    let connection: SimulatedConnection
    /// The end that opened it, and the channel's number there.
    let end: Int
    let number: UInt32
    let transfer: Scenario.Transfer
    let opening: ChannelOpening
    /// Whether the reader takes what is received at once.
    let isEager: Bool

    var opener = OpenerState()
    var reader = ReaderState()

    /// What the end that opened it has done.
    struct OpenerState {
        /// Bytes that its application has written, and those that the link has taken.
        var written = 0
        var sent = 0
        var hasBegun = false
        /// Where its bytes begin; nil while a resumable one waits for RESUME.
        var base: Int?
        var isFinished = false
        var hasEnded = false
        var reset: CloseCode?
        var isOver = false
    }

    /// What the other end has received.
    struct ReaderState {
        var isOpened = false
        /// The offset of BEGIN.
        var base: Int?
        var received = 0
        var taken = 0
        /// Whether FIN was received.
        var isWhole = false
        var stop: CloseCode?
        var done: CloseCode?
        var isReading = false
        var isOver = false
    }

    init(
        _ connection: SimulatedConnection, _ end: Int, _ number: UInt32, _ transfer: Scenario.Transfer,
        _ opening: ChannelOpening,
        isEager: Bool
    ) {
        self.connection = connection
        self.end = end
        self.number = number
        self.transfer = transfer
        self.opening = opening
        self.isEager = isEager
        if !opening.isResumable { (opener.base, reader.base) = (0, 0) }
    }

    /// The number of bytes that are written in all.
    var goal: Int {
        if case .reset(let count) = transfer.end { min(count, transfer.bytes) } else { transfer.bytes }
    }

    /// What the reader has of a resumable resource; no random choice, so that the scenarios of seeds stay what they are.
    var offer: ResumeOffer {
        ResumeOffer(
            offset: UInt64(transfer.bytes * 5 / 8),
            sha256: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32))
    }

    /// Whether what the reader has is not how the resource begins.
    var hasOtherBeginning: Bool { transfer.bytes % 2 == 0 }

    /// Bytes that the reader's engine holds.
    var held: Int { reader.isOver ? 0 : reader.received - reader.taken }

    var isOver: Bool { opener.isOver && (reader.isOver || !reader.isOpened) }

    /// Returns what is written from this position on: different bytes in each channel.
    func bytes(from position: Int, count: Int) -> [UInt8] {
        let salt = UInt64(connection.number) << 24 ^ UInt64(number) << 8 ^ UInt64(end)
        return (position..<(position + count)).map { place in
            UInt8(truncatingIfNeeded: ((UInt64(place) &+ salt) &* 0x9E37_79B9_7F4A_7C15) >> 37)
        }
    }

    /// The digest that FIN carries.
    var digest: [UInt8]? {
        transfer.isFile ? [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32) : nil
    }
}
