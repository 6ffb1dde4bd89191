import MultipeerCore
import MultipeerFraming

/// One connection, from its dial or its acceptance until it is given back. Only its engine holds it.
///
/// ```
/// securing ──secured──▶ open ──CLOSE, end of the link──▶ finishing ──the peer's end, 1 s──▶ (dropped)
///     └──────────────────┴──ended──▶ (dropped)
/// ```
final class Connection {
    enum Phase: Equatable {
        case securing
        case open
        /// What waits is written, our side is ended, and the peer's end is awaited.
        case finishing(until: Moment)
    }

    let id: ConnectionID
    var phase = Phase.securing
    var decoder = FrameDecoder()
    /// Frames that are no link's: those before SELECTED, and the last CLOSE.
    var frames = ByteBuffer()
    /// Set while the connection is a link.
    var peer: LinkedPeer?
    /// A frame has come.
    var hasReceivedFrame = false
    var isDue = false
    var isEncrypted = false

    init(_ id: ConnectionID) { self.id = id }

    /// Appends the frames that wait to `output`.
    func takeFrames(into output: inout ByteBuffer) {
        if frames.isEmpty { return }
        frames.read { bytes in output.append(bytes) }
        frames.removeAll()
    }

    var finishDeadline: Moment? { if case .finishing(let until) = phase { until } else { nil } }
}
