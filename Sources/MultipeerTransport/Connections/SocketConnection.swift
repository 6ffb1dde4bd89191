import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

/// One TCP connection of a session: its socket, the channel in it and the unsent bytes. Lives on the loop.
///
/// ```
/// connecting ──▶ securing ──▶ framed ──▶ closing ──▶ (closed)
/// sniffing ────────▲  (accepted: the first byte says TLS or plain)
/// ```
final class SocketConnection {
    enum Phase: Equatable {
        case connecting
        case sniffing
        case securing
        case framed
        /// Pending bytes are written, then our side is ended, and the other side's end is awaited.
        case closing
    }

    /// What a closing connection sends below the frames: close_notify, then the end of our side of the stream.
    enum ShutdownState {
        case pending, notified, written
    }

    let id: ConnectionID
    let remote: SocketAddress
    /// The certificate that a dialled peer must present; nil on a plain dial.
    let accepting: CertificatePin?
    let isDialled: Bool
    var phase: Phase
    let socket: Socket
    /// When an accepted connection was accepted.
    var acceptTime: Moment?
    /// The first bytes of an accepted connection, while they do not say yet what it is for.
    var greeting: [UInt8] = []
    /// It was accepted to show that there are too many open files.
    var isRefused = false
    /// The owner no longer has it.
    var isReleased = false
    private final var output: Output
    /// How many bytes are missing of a long payload that is being received.
    var missingBytes = 0
    /// Whether the last payload was a long one.
    var hasLongPayloads = false
    var link: SessionLink?
    var interest: Readiness
    var shutdownState = ShutdownState.pending
    /// Set while it is not known whether large packets arrive.
    var watch: DialWatch?
    /// Whether HELLO was written, and what fills it up.
    var hasFilled = false
    /// When TCP gives up; nil where the connection is not a link.
    var userTimeout: UserTimeout?
    /// The data of its largest packet, if it was dialled for a path that swallows larger ones.
    var segment: Int32?
    /// The peer of a link has not answered for a while.
    var isSilent = false
    /// The limit of TCP's back-off, and whether the system has it.
    var backOff = Socket.backOff
    let limitsBackOff: Bool
    /// The bytes that were given to the kernel.
    private(set) final var handed: UInt64 = 0

    init(
        _ id: ConnectionID, _ socket: consuming Socket, to remote: SocketAddress, dialled: Bool,
        accepting: CertificatePin?
    ) {
        self.id = id
        self.remote = remote
        self.accepting = accepting
        limitsBackOff = socket.limitBackOff(to: Socket.backOff)
        let state = socket.transmission()
        output = Output(SendAhead(isMeasured: state != nil))
        self.socket = socket
        isDialled = dialled
        phase = dialled ? .connecting : .sniffing
        interest = dialled ? .writable : .readable
        if let state { follow(state) }
    }

    var isClosing: Bool { phase == .closing }
}

// MARK: - Output

extension SocketConnection {
    /// The channel, and what is to be written through it. One value, because Swift checks each access to a property of an object
    /// while the program runs.
    private struct Output: ~Copyable {
        var channel: SecureChannel?
        /// Frames to be sealed.
        var frames = ByteBuffer()
        /// The rest of a payload, to be sealed after the frames.
        var rest: LentPayload?
        /// How much is sealed before the network takes it.
        var ahead: SendAhead

        init(_ ahead: SendAhead) { self.ahead = ahead }

        /// Seals the frames, then the full records of the rest from where it lies; what is left begins the next record.
        private mutating func seal() throws(SecurityFault) {
            if !frames.isEmpty { try channel?.write(contentsOf: &frames) }
            guard let rest = rest.take() else { return }
            let bytes = rest.bytes.span
            let end = rest.range.upperBound - rest.range.count % LentPayload.record
            try channel?.write(bytes.extracting(rest.range.lowerBound..<end))
            frames.append(bytes.extracting(end..<rest.range.upperBound))
        }

        mutating func write(sealing seals: Bool, over socket: borrowing Socket) throws(SecurityFault)
            -> Written
        {
            if seals { try seal() }
            let sealed = sealed
            let outcome = sealed > 0 ? transmit(over: socket) : .sent(0)
            return Written(sealed: sealed, outcome: outcome, unsent: unsent)
        }

        /// Hands what the channel has for the network to the kernel.
        private mutating func transmit(over socket: borrowing Socket) -> Socket.Sent {
            var outcome = Socket.Sent.sent(0)
            channel?.withOutput { bytes in
                outcome = socket.send(bytes)
                if case .sent(let count) = outcome { return count }
                return 0
            }
            return outcome
        }

        /// Bytes that wait to be written.
        var unsent: Int { frames.count + sealed }
        var maySeal: Bool {
            switch channel {
            case .some(let channel): channel.outputCount < ahead.limit
            case .none: false
            }
        }

        /// Those of them that are sealed.
        private var sealed: Int {
            switch channel {
            case .some(let channel): channel.outputCount
            case .none: 0
            }
        }
    }

    var channel: SecureChannel? {
        _read { yield output.channel }
        _modify { yield &output.channel }
    }

    /// Lets `body` append frames, and returns the rest of a payload that follows them.
    func append(_ body: (inout ByteBuffer) -> LentPayload?) { output.rest = body(&output.frames) }

    /// Drops the frames that are not sealed.
    func dropFrames() { output.frames.removeAll() }

    /// How much goes ahead of what is urgent.
    var ahead: SendAhead {
        get { output.ahead }
        set { output.ahead = newValue }
    }

    /// The room for frames that are written at once: two of the longest, so that a message of 64 KiB travels whole.
    var room: Int {
        let limit = output.ahead.limit
        if limit == SendAhead.range.upperBound { return Sockets.frames }
        // Below a record, so that a full room is not taken for the end.
        return limit == LentPayload.record ? limit - 1 : limit
    }

    var unsent: Int { output.unsent }
    /// Whether there is a channel that may seal more before it is sent.
    var maySeal: Bool { output.maySeal }

    /// What was written by one call.
    struct Written {
        /// How much was sealed before.
        let sealed: Int
        let outcome: Socket.Sent
        /// How much is left.
        let unsent: Int
    }

    /// Seals what is to be sealed, if `seals`, and hands it to the kernel.
    func write(sealing seals: Bool) throws(SecurityFault) -> Written {
        let written = try output.write(sealing: seals, over: socket)
        if case .sent(let count) = written.outcome { handed &+= UInt64(count) }
        return written
    }
}

extension SocketConnection {
    /// Everything is written: a closing connection closes below the frames, too, then ends its side. Returns whether there is
    /// more to write.
    func closeGracefully() -> Bool {
        guard isClosing else { return false }
        switch shutdownState {
        case .pending:
            channel?.close()
            shutdownState = .notified
            return true
        case .notified:
            socket.shutdownWriting()
            shutdownState = .written
        case .written: break
        }
        return false
    }
}

/// A linked peer: the queue that its senders fill, and its channels.
final class SessionLink {
    let peer: PeerID
    /// Nil if the link is not encrypted.
    let peerKey: Fingerprint?
    let sendQueue: SendQueue<DisconnectReason>
    let suite: String?
    let group: String?
    /// How it was known who is at the other end when the link was made.
    let verification: PeerVerification

    /// Nil when the link has no datagrams.
    var flow: DatagramFlow?

    /// Our channels, until they are over.
    var outgoing: [UInt32: ChannelSendQueue] = [:]
    /// The peer's channels, until they are over and read.
    var incoming: [UInt32: ChannelReceiveQueue] = [:]

    var channelBytesSent = 0
    var channelBytesReceived = 0

    var isEncrypted: Bool { suite != nil }

    init(
        _ peer: PeerID, _ key: Fingerprint?, sendQueue: SendQueue<DisconnectReason>, suite: String?,
        group: String?, verification: PeerVerification
    ) {
        self.peer = peer
        peerKey = key
        self.sendQueue = sendQueue
        self.suite = suite
        self.group = group
        self.verification = verification
    }
}
