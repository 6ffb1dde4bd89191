import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

/// One TCP connection of a session: its socket, the channel in it and the frames in that. Lives on the loop.
///
/// ```
/// connecting ──▶ securing ──▶ framed ──▶ parting ──▶ (closed)
/// sniffing ────────▲  (accepted: the first byte says TLS or plain)
/// ```
final class Wire {
    enum Phase: Equatable {
        case connecting
        case sniffing
        case securing
        case framed
        /// Our CLOSE is on its way: flush, then wait for the other side's end, until `deadline`.
        case parting(until: Moment)
    }

    /// What a connection that parts says below the frames: close_notify, then the end of our side of the stream.
    enum Farewell {
        case owed, said, written
    }

    /// Answers to a peer that does not read them: beyond so many bytes nothing more is read from it either. More than
    /// ever waits while the peer reads, however slowly.
    private static let unreadAnswers = 524_288

    let id: ConnectionID
    let remote: SocketAddress
    /// The fingerprint a dialled peer must show; nil on a plain dial.
    let accepting: Fingerprint?
    let isDialled: Bool
    var phase: Phase
    let socket: Socket
    var channel: SecureChannel?
    var decoder = FrameDecoder()
    /// Frames to be sealed, before the seat has its own.
    var frames = ByteBuffer()
    var seat: Seat?
    var interest: Readiness
    var farewell = Farewell.owed
    /// A frame has come.
    var hasHeard = false

    init(
        _ id: ConnectionID, _ socket: consuming Socket, to remote: SocketAddress, dialled: Bool,
        accepting: Fingerprint?
    ) {
        self.id = id
        self.remote = remote
        self.accepting = accepting
        self.socket = socket
        isDialled = dialled
        phase = dialled ? .connecting : .sniffing
        interest = dialled ? .writable : .readable
    }

    var isParting: Bool { if case .parting = phase { true } else { false } }
    /// What comes while we part is dropped, so it makes no answers.
    var isCongested: Bool {
        !isParting && frames.count + (channel?.outputCount ?? 0) > Wire.unreadAnswers  // [limit.unread]
    }
    var deadline: Moment? { if case .parting(let deadline) = phase { deadline } else { seat?.link.deadline } }
}

extension Wire {
    /// Hands what the channel has for the network to the kernel.
    func transmit() -> Socket.Sent {
        var outcome = Socket.Sent.sent(0)
        channel?.withOutput { bytes in
            outcome = socket.send(bytes)
            if case .sent(let count) = outcome { return count }
            return 0
        }
        return outcome
    }

    /// Everything is written: a connection that parts says farewell below the frames, too, then ends its side. Answers
    /// whether there is more to write.
    func sayFarewell() -> Bool {
        guard isParting else { return false }
        switch farewell {
        case .owed:
            channel?.close()
            farewell = .said
            return true
        case .said:
            socket.shutdownWriting()
            farewell = .written
        case .written: break
        }
        return false
    }
}

/// A linked peer: the link's machine, the queue that its senders fill, and its channels.
final class Seat {
    let peer: PeerID
    var link: Link
    let outlet: Outlet<EndReason>
    let suite: String?
    let authentication: LinkFacts.Authentication
    /// Nil until somebody wants the code.
    var verification: Verification?

    /// Nil when the link has no datagrams.
    var lane: DatagramLane?
    var hasDeclinedDatagrams = false

    /// Our channels, until they are over.
    var outgoing: [UInt32: ChannelOutlet] = [:]
    /// The peer's channels, until they are over and read.
    var incoming: [UInt32: Incoming] = [:]

    /// The peer has opened a channel, or answered one.
    var hasHeardOfChannels = false
    var channelBytesSent = 0
    var channelBytesReceived = 0
    /// Whether it was said that the link has a long message to put together.
    var wantsTurn = false

    /// The session is left: GOODBYE goes when everything else has gone.
    var isLeaving = false

    /// A channel of the peer.
    struct Incoming {
        let channel: ChannelInbox
        /// FIN has come.
        var isFinished = false

        var isResource: Bool { channel.opening.kind == .resource }
    }

    var statistics: LinkStatistics {
        var statistics = link.statistics
        statistics.channelBytesSent = channelBytesSent
        statistics.channelBytesReceived = channelBytesReceived
        return statistics
    }

    var isEncrypted: Bool { suite != nil }

    init(
        _ data: ConnectionData, link: consuming Link, outlet: Outlet<EndReason>, suite: String?,
        authentication: LinkFacts.Authentication
    ) {
        peer = data.peer
        self.link = link
        self.outlet = outlet
        self.suite = suite
        self.authentication = authentication
    }
}

/// Takes one frame out of a decoder, then pauses it: before a link stands, each frame decides who gets the next one.
struct OneFrame: FrameSink {
    private(set) var header: FrameHeader?
    private(set) var payload: [UInt8] = []
    let frameLimit: Int
    let frameOrder: FrameOrder?

    /// Of a session: what may come before SELECTED.
    init() {
        frameLimit = Limits.frameBeforeSelect  // [frame.limit-before]
        frameOrder = .beforeSelected  // [frame.order]
    }

    /// Of an invitation; only INVITE may be long.
    init(maybeInvite: Bool) {
        frameLimit = maybeInvite ? Limits.frame : Limits.frameBeforeSelect  // [frame.limit-before]
        frameOrder = .invitation  // [invite.order]
    }

    var wantsFrames: Bool { header == nil }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        self.header = header
        self.payload = [UInt8](copying: payload)
    }
}
