import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
public import MultipeerSecurity

/// How a session protects its links, whom it trusts, where it listens and how long it waits.
///
/// What is outside its range here is refused when a session is made with it.
public struct SessionConfiguration: Sendable {
    /// Who is linked with whom.
    public enum Topology: Sendable {
        /// Everyone with everyone: each member is introduced to all others. Spec 11.
        case mesh
        /// Everyone with those alone with whom it linked by itself.
        case star
    }

    /// Whether links are encrypted. With an identity, `.optional` counts as `.required`. Spec 5.1.
    public var preference: EncryptionPreference
    /// The certificate and key to show; nil makes a fresh key for the session. Ignored when the preference is none.
    public var identity: Identity?
    /// Which identities are accepted, besides the key that the connection data pins.
    public var trust: TrustPolicy
    /// What `TrustPolicy.trustOnFirstUse` remembers, on disk; nil remembers for the life of the session, 10,000 peers at
    /// the most.
    public var trustStore: TrustStoreFile?
    /// Where to listen, 16 addresses at the most; empty listens on every interface, on a port that the system chooses.
    ///
    /// Ports below 1,024 are of use only with `advertised`: nobody dials them.
    public var listening: [SocketAddress]
    /// What connection data names instead of the addresses at which the session listens; empty names those. For a
    /// port that somebody forwards. 16 at the most, each with a port from 1,024 on, none unspecified, multicast or
    /// broadcast.
    public var advertised: [SocketAddress]
    /// How long one `connect` may take, 1 to 600 seconds; 30 unless set. While the trust policy's question is open it may
    /// take longer, 30 seconds from the question.
    public var patience: Duration
    /// The longest message this side accepts, in bytes: 65,536 to 1 GiB (1,073,741,824); 16 MiB unless set.
    ///
    /// One peer can make a session hold so much and 4 MiB more.
    public var maxMessage: Int
    /// Streams and files that one peer may have open to this side at a time: 1 to 1,024; 64 unless set.
    ///
    /// A peer that wants to open more waits. Each can hold 256 KiB unread, all of a session 20 MiB.
    public var maxChannels: Int
    /// Silence after which a peer is asked whether it is there, from 10 milliseconds on; 3 seconds unless set. Spec 14.2.
    public var silence: Duration
    /// Silence after which a peer is given up, longer than `silence`, 1 hour at the most; 10 seconds unless set.
    /// Spec 14.2.
    public var death: Duration
    /// Whether unreliable messages go over UDP, on a port that the system chooses, where that gets through; yes unless set.
    /// If not, they take the link.
    public var datagrams: Bool
    /// Where the secrets of links, their datagrams and the invitations to them are written for a protocol analyser, in the
    /// format of `SSLKEYLOGFILE`; nil writes none. Whoever reads them reads the traffic.
    public var keyLog: KeyLog?
    /// Peers of the mesh at the most, the local one included: 2 to 16; 8 unless set. Links are one fewer. Everyone in a mesh
    /// should have the same; the smallest decides.
    public var peers: Int
    /// Whether peers that join by an invitation, or by connection data for the mesh, are introduced to each other; a mesh
    /// unless set.
    public var topology: Topology
    /// What no application sets.
    package var overrides = SessionOverrides()

    /// A session with the standard limits: encrypted when the other side can, listening on every interface.
    public init(
        preference: EncryptionPreference = .required, identity: Identity? = nil,
        trust: TrustPolicy = .connectionData
    ) {
        self.preference = preference
        self.identity = identity
        self.trust = trust
        trustStore = nil
        listening = []
        advertised = []
        patience = HandshakeTiming.attempt
        maxMessage = Limits.maxMessage
        maxChannels = Limits.channels
        silence = .seconds(3)
        death = .seconds(10)
        peers = Limits.peers
        topology = .mesh
        keyLog = nil
        datagrams = true
    }
}
