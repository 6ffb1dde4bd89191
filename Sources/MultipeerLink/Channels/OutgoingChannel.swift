import MultipeerFraming

/// A channel that this end opened, or is about to open. Spec 9.2.
///
/// ```
///   waiting ──OPEN──▶ open ──FIN, of a resource──▶ finished ──DONE, STOP, RESET──▶ (closed)
///      │  │           ▲ └──FIN of a stream, RESET──▶ (closed)
///      │  │           └───────────BEGIN──────────────┐
///      │  └─OPEN, resumable──▶ offered ──RESUME──▶ resuming          (these two: STOP, RESET──▶ (closed))
///      └──given up──▶ (no trace)
/// ```
struct OutgoingChannel: Sendable {
    enum Phase: Sendable {
        /// OPEN waits for a free channel and for credit.
        case waiting(ChannelOpening)
        /// OPEN of a resumable resource is written; RESUME of the peer is due.
        case offered
        /// BEGIN is due. The owner has chosen where to begin unless it is nil.
        case resuming(ResumeOffer, from: UInt64?)
        case open
        /// FIN of a resource is written; DONE of the peer is due.
        case finished
    }

    enum Ending: Sendable {
        case unknown
        /// FIN is sent after everything that waits.
        case due(digest: [UInt8]?)
    }

    let kind: ChannelOpening.Kind
    /// The number of its bytes, of a resumable resource.
    let size: UInt64
    var phase: Phase
    var sendWindow: ChannelCredit.SendWindow
    var pieces = ChunkQueue()
    var ending = Ending.unknown
    /// Whether it waits for its turn to write.
    var isQueued = false

    init(_ opening: ChannelOpening, credit: UInt32) {
        kind = opening.kind
        size = opening.size ?? 0
        phase = .waiting(opening)
        sendWindow = ChannelCredit.SendWindow(limit: credit)
    }

    /// Whether it can write now.
    var isReady: Bool {
        if case .resuming(_, from: .some) = phase { return true }
        guard case .open = phase else { return false }
        if !pieces.isEmpty { return sendWindow.left > 0 }
        if case .due = ending { return true }
        return false
    }

    /// Whether more data may be queued.
    var takesMore: Bool {
        if case .unknown = ending { true } else { false }
    }

    /// The size of its next DATA in bytes; 0 when FIN is next.
    var nextPayload: Int { min(Limits.channelPiece, pieces.count, sendWindow.left) }

    /// The size of its next DATA if that can be lent; nil when it would be too short for that.
    var nextLoan: Int? {
        let count = min(Limits.frame, pieces.firstCount, sendWindow.left)
        return count >= LentPayload.shortest ? count : nil
    }
}
