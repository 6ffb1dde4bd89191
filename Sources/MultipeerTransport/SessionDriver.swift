package import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
package import MultipeerSecurity

/// Carries out what the engine of one session decides: sockets, TLS, timers, queues. It knows no rules of the protocol.
///
/// An actor pinned to its loop. Readiness enters through `ready` and is isolated from there on; at the end of a turn
/// everything decided is written, delivered in one batch and the next deadline is set.
package actor SessionDriver: LoopClient {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated package let poke = Poke()

    nonisolated package let configuration: SessionConfiguration
    nonisolated package let peer: PeerID
    nonisolated package let inbox: Inbox<SessionEvent>
    nonisolated package let outlets = Outlets()
    /// Where files land for which nobody names a directory.
    nonisolated let folder = ResourceFolder()
    nonisolated let consumed: Consumption
    nonisolated let errands = Errands()
    nonisolated let datagramOutlets = DatagramOutlets()
    /// What this side shows; nil when the preference is none.
    nonisolated package let identity: Identity?
    let tls: TLSContext?

    var engine: SessionEngine
    /// The outputs of the engine are being carried out: what follows from that waits for its turn.
    var isCarryingOut = false
    var wires: [ConnectionID: Wire] = [:]
    /// Those that may have something to write, besides what the engine says.
    var dirty: Set<ConnectionID> = []
    /// Those that could not write everything in their turn.
    var unfinished: Set<ConnectionID> = []
    var pending = Inbox<SessionEvent>.Batch()
    /// Channels whose readers have something to hear.
    var heard: [ChannelInbox] = []
    var acceptor: Acceptor?
    var datagramPorts = DatagramPorts()
    var acceptResumes: Moment?
    /// The session's owner is gone.
    var isOver = false
    /// Who else takes part of what arrives.
    weak var guest: (any SessionGuest)?
    /// What bears its mark is not the application's, not even when the guest is gone.
    var guestMark: UInt32?
    var questions: [UID: Task<Void, Never>] = [:]
    var authentications: [UID: LinkFacts.Authentication] = [:]
    /// First keys, for the life of the session, when there is no store on disk.
    var remembered = TrustStore()
    var outcomes: [UID: [Promise<EndReason?>]] = [:]
    var marks: [UInt64: (uid: UID, signal: Promise<Bool>)] = [:]
    var lastMark: UInt64 = 0
    /// What was queued for a peer when its link ended, and never reached the engine.
    var untaken: [UID: Undelivered] = [:]
    var codeRequests: [UInt64: Promise<Result<String, VerificationFault>>] = [:]
    var lastCodeRequest: UInt64 = 0
    var departures: [Promise<Void>] = []
    /// How many events were before this instance of the session: those are what the one that was left has told.
    package internal(set) var firstEvent = 0
    /// What goes on for this session elsewhere: an invitation of or to that peer.
    var pursuits: [UInt64: Pursuit] = [:]
    var lastPursuit: UInt64 = 0
    var ciphertext = ByteBuffer()
    var plaintext = ByteBuffer()
    var randomness = SystemRandomness()

    /// Bytes of one receive, and of one read of the channel.
    static let batch = 131_072
    /// Ciphertext that is gathered before it is sent.
    static let sealing = 65_536
    /// Frames that are written at once: two of the longest, so that a message of 64 KiB travels whole.
    static let frames = 2 * (FrameHeader.byteCount + 65_536)
    static let agent = "swift-multipeer/0.1"

    /// Nothing touches the network before the first call that needs it.
    package init(_ peer: PeerID, _ configuration: SessionConfiguration) throws(SessionFault) {
        self.peer = peer
        self.configuration = configuration
        try configuration.validate()
        loop = try SessionFault.network { () throws(SocketFault) in try EventLoop.next() }
        (identity, tls) = try SessionFault.security { () throws(SecurityFault) in
            try SessionDriver.credentials(configuration)
        }
        var randomness = SystemRandomness()
        let local = SessionDriver.local(peer, configuration, identity?.fingerprint, using: &randomness)
        engine = SessionEngine(
            local,
            SessionEngine.Configuration(
                peers: configuration.peers,
                timing: Liveness.Timing(silence: configuration.silence, death: configuration.death)),
            seed: randomness.next())
        let consumed = Consumption()
        self.consumed = consumed
        inbox = Inbox(reportAfter: Int(configuration.messageCredit) / 8) { consumed.add($0) }
        consumed.onChange(loop.waker(for: self))
        errands.onChange(loop.waker(for: self))
    }

    private static func credentials(
        _ configuration: SessionConfiguration
    ) throws(SecurityFault) -> (Identity?, TLSContext?) {
        guard configuration.preference != .none else { return (nil, nil) }
        let identity: Identity  // [key.ephemeral]
        if let own = configuration.identity { identity = own } else { identity = try Identity.generate() }
        return (identity, try TLSContext(identity: identity, keyLog: configuration.keyLog))
    }

    /// A new instance each time: what was said to the old one cannot reach the new one. [endpoint.instance]
    static func local(
        _ peer: PeerID, _ configuration: SessionConfiguration, _ fingerprint: Fingerprint?,
        using randomness: inout SystemRandomness
    ) -> LocalPeer {
        var limits = LinkLimits.standard
        limits.maxMessage = UInt64(configuration.maxMessage)
        limits.maxChannels = UInt32(configuration.maxChannels)
        limits.messageCredit = configuration.messageCredit
        limits.channelCredit = configuration.channelCredit
        var local = LocalPeer(
            peer: peer, instance: randomness.next(), preference: configuration.preference,
            hasIdentity: configuration.identity != nil, fingerprint: fingerprint, limits: limits,
            agent: SessionDriver.agent)
        local.decision = configuration.decision
        return local
    }
}
