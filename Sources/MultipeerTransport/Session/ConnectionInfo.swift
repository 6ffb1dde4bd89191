public import MultipeerLink
public import MultipeerSecurity

/// The protection of a link, how it is known who is at the other end, and the statistics of the link.
public struct ConnectionInfo: Sendable {
    /// Whether bytes travel inside TLS.
    public let isEncrypted: Bool
    /// The cipher suite's IANA name; nil on a plain link.
    public let cipherSuite: String?
    /// The group of the key exchange by its IANA name, such as `x25519`; nil on a plain link. With `X25519MLKEM768`, which is
    /// used when both sides have OpenSSL 3.5 or later, recorded traffic also stays secret from a quantum computer.
    public let keyExchange: String?
    /// How it is known who is at the other end. It changes when a verification code is compared.
    public let verification: PeerVerification
    /// The remote address.
    public let remoteAddress: String
    /// The local address.
    public let localAddress: String
    /// Whether this side dialled.
    public let isDialled: Bool
    /// The state of unreliable messages over UDP.
    public struct Datagrams: Hashable, Sendable {
        /// Whether UDP gets through, so that unreliable messages are sent over it.
        public let isUp: Bool
        /// Messages that were sent over UDP.
        public let sent: Int
        /// Messages that were received over UDP.
        public let received: Int
        /// Messages that were dropped on this side: repeated, too late, malformed, with too much unread data before them, or
        /// refused by the system.
        public let dropped: Int

        package init(isUp: Bool = false, sent: Int = 0, received: Int = 0, dropped: Int = 0) {
            self.isUp = isUp
            self.sent = sent
            self.received = received
            self.dropped = dropped
        }
    }

    /// The state of unreliable messages over UDP.
    public let datagrams: Datagrams
    /// What the link has carried so far.
    public let statistics: LinkStatistics
}

extension ConnectionInfo {
    init(
        _ connection: SocketConnection, _ link: SessionLink, verified: PeerVerification?,
        _ statistics: LinkStatistics
    ) {
        self.init(
            isEncrypted: link.isEncrypted, cipherSuite: link.suite, keyExchange: link.group,
            verification: link.verification.strengthened(by: verified),
            remoteAddress: "\(connection.remote)",
            localAddress: connection.socket.localAddress.map { "\($0)" } ?? "",
            isDialled: connection.isDialled, datagrams: link.flow?.facts ?? Datagrams(),
            statistics: statistics)
    }
}
