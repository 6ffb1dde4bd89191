import MultipeerFraming

/// A channel that this end opened, or is about to open. Spec 9.2.
///
/// ```
///   waiting ──OPEN──▶ open ──FIN, of a resource──▶ finished ──DONE, STOP, RESET──▶ (closed)
///      │                └──FIN of a stream, RESET──▶ (closed)
///      └──given up──▶ (no trace)
/// ```
struct OutgoingChannel: Sendable {
    enum Phase: Sendable {
        /// OPEN waits for a place and for credit.
        case waiting(ChannelOpening)
        case open
        /// FIN of a resource is written; the peer owes DONE.
        case finished
    }

    enum Ending: Sendable {
        case unknown
        /// FIN goes after everything that waits.
        case due(digest: [UInt8]?)
    }

    let kind: ChannelOpening.Kind
    var phase: Phase
    var sendWindow: ChannelCredit.SendWindow
    var pieces = ChunkQueue()
    var ending = Ending.unknown
    /// Whether it waits for its turn to write.
    var isQueued = false

    init(_ opening: ChannelOpening, credit: UInt32) {
        kind = opening.kind
        phase = .waiting(opening)
        sendWindow = ChannelCredit.SendWindow(limit: credit)
    }

    /// Whether it could write something now.
    var isReady: Bool {
        guard case .open = phase else { return false }
        if !pieces.isEmpty { return sendWindow.left > 0 }
        if case .due = ending { return true }
        return false
    }

    /// Whether more may be put behind what waits.
    var takesMore: Bool {
        if case .unknown = ending { true } else { false }
    }

    /// Bytes of its next DATA; 0 when it is FIN's turn.
    var nextPayload: Int { min(Limits.channelPiece, pieces.count, sendWindow.left) }
}
