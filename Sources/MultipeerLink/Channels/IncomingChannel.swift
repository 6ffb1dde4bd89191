import MultipeerFraming

/// A channel that the peer opened. Spec 9.2.
///
/// ```
///   offered ──RESUME──▶ resuming ──BEGIN──▶ open       (a resumable one begins as offered; STOP and RESET as if open)
///   open ──FIN of a resource──▶ finished ──DONE, RESET──▶ (closed)
///     ├──FIN of a stream──▶ unread ──everything taken──▶ (closed)
///     ├──STOP──▶ stopped ──FIN, RESET──▶ (closed)
///     └──RESET──▶ (closed)
/// ```
struct IncomingChannel: Sendable {
    enum Phase: Equatable, Sendable {
        /// A resumable resource; RESUME is due.
        case offered
        /// RESUME was sent; BEGIN of the peer is due, with this offset or 0.
        case resuming(from: UInt64)
        case open
        /// STOP was sent; what still arrives is dropped.
        case stopped
        /// FIN of a resource was received; DONE is due.
        case finished
        /// No more frames follow; bytes of it are still held.
        case unread
    }

    let kind: ChannelOpening.Kind
    let longestWindow: Int
    var phase = Phase.open
    var receiveWindow: ChannelCredit.ReceiveWindow
    /// Whether CREDIT is due and the channel is in that list.
    var isCreditDue = false
    /// The index of its last DATA among the events of that batch.
    var lastData = 0
    var batch = -1

    init(_ opening: ChannelOpening, credit: UInt32) {
        kind = opening.kind
        longestWindow = opening.isResumable ? Self.longestResumable : Self.longest
        if opening.isResumable { phase = .offered }
        receiveWindow = ChannelCredit.ReceiveWindow(window: credit)
    }

    /// No window grows beyond this.
    static let longest = 8 * 1_048_576
    /// What was sent and not taken has to be sent again after a crash of the receiver.
    static let longestResumable = 2 * 1_048_576

    /// Whether the peer counts it as open.
    var isOpen: Bool {
        switch phase {
        case .offered, .resuming, .open, .stopped, .finished: true
        case .unread: false
        }
    }
}
