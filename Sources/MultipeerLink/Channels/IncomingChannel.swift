import MultipeerFraming

/// A channel that the peer opened. Spec 9.2.
///
/// ```
///   open ──FIN of a resource──▶ finished ──DONE, RESET──▶ (closed)
///     ├──FIN of a stream──▶ unread ──everything taken──▶ (closed)
///     ├──STOP──▶ stopped ──FIN, RESET──▶ (closed)
///     └──RESET──▶ (closed)
/// ```
struct IncomingChannel: Sendable {
    enum Phase: Sendable {
        case open
        /// STOP was sent; what still arrives is dropped.
        case stopped
        /// FIN of a resource was received; DONE is due.
        case finished
        /// No more frames follow; bytes of it are still held.
        case unread
    }

    let kind: ChannelOpening.Kind
    var phase = Phase.open
    var receiveWindow: ChannelCredit.ReceiveWindow
    /// Whether CREDIT is due and the channel is in that list.
    var isCreditDue = false
    /// The index of its last DATA among the events of that batch.
    var lastData = 0
    var batch = -1

    init(_ kind: ChannelOpening.Kind, credit: UInt32) {
        self.kind = kind
        receiveWindow = ChannelCredit.ReceiveWindow(window: credit)
    }

    /// Whether the peer counts it as open.
    var isOpen: Bool {
        switch phase {
        case .open, .stopped, .finished: true
        case .unread: false
        }
    }
}
