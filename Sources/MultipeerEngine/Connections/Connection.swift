import MultipeerCore
import MultipeerFraming
import MultipeerLink
import MultipeerSecurity

/// One connection, from its dial or its acceptance until it is released. Only its engine holds it.
///
/// ```
/// securing ──secured──▶ open ──CLOSE, end of the link──▶ finishing ──the peer's end, 1 s──▶ (dropped)
///     └──────────────────┴──ended──▶ (dropped)
/// ```
final class Connection {
    enum Phase: Equatable {
        case securing
        case open
        /// Waiting data is written, our side is closed, and the peer is expected to close its side.
        case finishing(until: Moment)
    }

    let id: ConnectionID
    var phase = Phase.securing
    var decoder = FrameDecoder()
    /// Frames outside a link: those before SELECTED, and the last CLOSE.
    var frames = ByteBuffer()
    /// The linked peer, while the connection is a link.
    var peer: LinkedPeer?
    /// Whether a frame was received.
    var hasReceivedFrame = false
    var isDue = false
    var isEncrypted = false
    /// The budget for TLS messages after the handshake; created with the first of them.
    private var tlsMessages: TokenBucket?

    init(_ id: ConnectionID) { self.id = id }

    /// Counts a TLS message that came after the handshake; returns what is wrong with it, if anything.
    func violation(of message: SecureChannel.PostHandshakeMessage, at now: Moment) -> Violation? {
        guard message == .keyUpdate else { return .sessionTicket }  // [tls.no-resumption]
        var budget = tlsMessages ?? TokenBucket(capacity: Self.keyUpdates, perSecond: 1, now: now)
        defer { tlsMessages = budget }
        return budget.consume(at: now) ? nil : .tooManyKeyUpdates  // [tls.messages]
    }

    private static let keyUpdates = 32

    /// Appends the frames that wait to `output`.
    func takeFrames(into output: inout ByteBuffer) {
        if frames.isEmpty { return }
        frames.read { bytes in output.append(bytes) }
        frames.removeAll()
    }

    var finishDeadline: Moment? { if case .finishing(let until) = phase { until } else { nil } }
}
