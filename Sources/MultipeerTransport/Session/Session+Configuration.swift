import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
public import MultipeerSecurity

extension Session {
    /// How a session protects its links, which peers it trusts, where it listens and how long it waits.
    ///
    /// A value outside its range is rejected when a session is created with it.
    public struct Configuration: Sendable {
        /// Which peers link with each other.
        public enum Topology: Sendable {
            /// Every member links with every other: each is introduced to all others. Spec 11.
            case mesh
            /// Each peer is linked only with those that it connected with itself.
            case star
        }

        /// Whether links are encrypted. With an identity, `.optional` counts as `.required`. Spec 5.1.
        public var encryption: EncryptionPreference
        /// The certificate and key to present; nil makes a fresh key for the session. Ignored when `encryption` is `.none`.
        ///
        /// In a mesh the certificate goes to all members with each statement that the key signs: it has at most 4,096 bytes there.
        public var identity: Identity?
        /// Which identities are accepted, in addition to the key that the connection data pins.
        public var trust: TrustPolicy
        /// The file in which `TrustPolicy.trustOnFirstUse` remembers the identities of peers, and in which peers are remembered that
        /// two users have verified, if both have identities. Without it, and for peers without an identity, keys are remembered for
        /// the life of the session, at most 10,000.
        public var trustStore: TrustStore.File?
        /// The addresses to listen at, at most 16; empty listens on every interface. Those whose port is 0 use `port`.
        ///
        /// Ports below 1,024 are only useful with `advertisedAddresses`: no peer dials them.
        public var listenAddresses: [SocketAddress]
        /// The port to listen at, for links (TCP) and unreliable messages (UDP), so that a firewall can allow it; nil or 0, the
        /// default, lets the system choose. It is held from the first `connectionData` or `connect` on until the session is
        /// released, and no other session of the process can have it; an advertiser can, with `DiscoveryConfiguration.port`.
        ///
        /// Ports below 1,024 are only useful with `advertisedAddresses`. A port that is in use makes `connectionData` and `connect`
        /// throw `system`.
        public var port: UInt16?
        /// The addresses that connection data contains instead of those at which the session listens; empty for the latter. Use it
        /// with port forwarding. At most 16, each with a port from 1,024 on, none unspecified, multicast or broadcast.
        public var advertisedAddresses: [SocketAddress]
        /// The timeout of one `connect`, 1 to 600 seconds; default 30. While the trust policy's question is open it may take longer,
        /// 30 seconds from the question.
        public var connectTimeout: Duration
        /// The longest message this side accepts, in bytes: 65,536 to 1 GiB (1,073,741,824); default 16 MiB.
        ///
        /// One peer can make a session hold this much and 4 MiB more.
        public var maximumMessageSize: Int
        /// The number of streams and files that one peer may have open to this side at a time: 1 to 1,024; default 64.
        ///
        /// A peer that wants to open more waits. Each can hold 256 KiB of unread data, all of a session together 20 MiB.
        public var maximumStreams: Int
        /// The keep-alive interval: idle time after which a peer is probed, at least 10 milliseconds; default 3 seconds. Spec 14.2.
        public var keepAliveInterval: Duration
        /// The idle timeout, after which a peer is given up: longer than `keepAliveInterval`, at most 1 hour; default 10 seconds. Spec 14.2.
        public var idleTimeout: Duration
        /// Whether unreliable messages go over UDP where it gets through, on a port of the same number as `port`; default true.
        /// Otherwise they are sent on the link.
        public var allowsDatagrams: Bool
        /// Receives the secrets of links, their datagrams and the invitations to them for a protocol analyser, in the format of
        /// `SSLKEYLOGFILE`; nil logs none. Anyone who reads them can read the traffic.
        public var keyLog: KeyLog?
        /// The maximum number of peers in the mesh, including the local one: 2 to 16; default 8. Links are one fewer. All members of
        /// a mesh should have the same value; the smallest decides.
        public var maximumPeers: Int
        /// Whether peers that join by an invitation, or by connection data for the mesh, are introduced to each other; default
        /// `.mesh`.
        public var topology: Topology
        /// Settings that no application uses.
        package var overrides = SessionOverrides()

        /// Creates a configuration with the standard limits, which listens on every interface. Unless `encryption` is another,
        /// every link is encrypted, and there is none to a peer that cannot encrypt.
        public init(
            encryption: EncryptionPreference = .required, identity: Identity? = nil,
            trust: TrustPolicy = .connectionData
        ) {
            self.encryption = encryption
            self.identity = identity
            self.trust = trust
            trustStore = nil
            listenAddresses = []
            port = nil
            advertisedAddresses = []
            connectTimeout = HandshakeTiming.attempt
            maximumMessageSize = Limits.maxMessage
            maximumStreams = Limits.channels
            keepAliveInterval = .seconds(3)
            idleTimeout = .seconds(10)
            maximumPeers = Limits.peers
            topology = .mesh
            keyLog = nil
            allowsDatagrams = true
        }
    }
}
