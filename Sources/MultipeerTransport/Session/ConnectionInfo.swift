public import MultipeerLink

/// The protection of a link, what the other side proved, and the statistics of the link.
public struct ConnectionInfo: Sendable {
    /// What the other side proved before it was linked.
    public enum Authentication: Hashable, Sendable, CustomStringConvertible {
        /// The key pinned by the exchanged connection data.
        case connectionData
        /// An identity that this part of the trust policy accepted.
        case identity(by: String)
        /// Only that it holds both tokens: the link is plain.
        case tokens

        /// A description in words, in lower case.
        public var description: String {
            switch self {
            case .connectionData: "the key in its connection data"
            case .identity(let policy): "its identity (\(policy))"
            case .tokens: "its token only"
            }
        }
    }

    /// Whether bytes travel inside TLS.
    public let isEncrypted: Bool
    /// The cipher suite's IANA name; nil on a plain link.
    public let cipherSuite: String?
    /// The group of the key exchange by its IANA name, such as `x25519`; nil on a plain link. With `X25519MLKEM768`, which is
    /// used when both sides have OpenSSL 3.5 or later, recorded traffic also stays secret from a quantum computer.
    public let keyExchange: String?
    /// What the other side proved.
    public let authentication: Authentication
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
    init(_ connection: SocketConnection, _ link: SessionLink, _ statistics: LinkStatistics) {
        self.init(
            isEncrypted: link.isEncrypted, cipherSuite: link.suite, keyExchange: link.group,
            authentication: link.authentication, remoteAddress: "\(connection.remote)",
            localAddress: connection.socket.localAddress.map { "\($0)" } ?? "",
            isDialled: connection.isDialled, datagrams: link.flow?.facts ?? Datagrams(),
            statistics: statistics)
    }
}
