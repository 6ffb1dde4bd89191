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
    var channel: SecureChannel?
    /// Frames to be sealed.
    var frames = ByteBuffer()
    /// The rest of a payload, to be sealed after the frames.
    var rest: LentPayload?
    /// How many bytes are missing of a long payload that is being received.
    var missingBytes = 0
    /// Whether the last payload was a long one.
    var hasLongPayloads = false
    var link: SessionLink?
    var interest: Readiness
    var shutdownState = ShutdownState.pending

    init(
        _ id: ConnectionID, _ socket: consuming Socket, to remote: SocketAddress, dialled: Bool,
        accepting: CertificatePin?
    ) {
        self.id = id
        self.remote = remote
        self.accepting = accepting
        self.socket = socket
        isDialled = dialled
        phase = dialled ? .connecting : .sniffing
        interest = dialled ? .writable : .readable
    }

    var isClosing: Bool { phase == .closing }
    /// Bytes that wait to be written.
    var unsent: Int { frames.count + (channel?.outputCount ?? 0) }
}

extension SocketConnection {
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
        _ peer: PeerID, sendQueue: SendQueue<DisconnectReason>, suite: String?, group: String?,
        verification: PeerVerification
    ) {
        self.peer = peer
        self.sendQueue = sendQueue
        self.suite = suite
        self.group = group
        self.verification = verification
    }
}
