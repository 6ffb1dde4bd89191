import MultipeerCommandLine
package import MultipeerEssentials

/// One event of `multipeer browse`, for programs: a line of JSON, or tab-separated fields.
package struct BrowseLine: Encodable, Sendable {
    package enum Event: String, Encodable, Sendable {
        case found, updated, lost
    }

    package let event: Event
    /// All digits of the peer's id.
    package let id: String
    /// Whether the id is the hash of a key.
    package let kind: UID.IDKind
    package let name: String
    /// Nil for a lost peer.
    package let info: [String: String]?
    /// The addresses of the peer, if requested.
    package let addresses: [String]?
    /// Nothing is proven before there is a link.
    package let verification = "\(PeerVerification.unverified(.network))"
    /// Seconds since the command began to browse.
    package let seconds: Double

    package init(
        _ event: Event, _ peer: PeerID, info: [String: String]? = nil, addresses: [SocketAddress]? = nil,
        at time: Duration
    ) {
        self.event = event
        id = peer.id
        kind = peer.uid.idKind
        name = peer.displayName
        self.info = info
        self.addresses = addresses.map { $0.map(\.description) }
        seconds = time.seconds
    }

    /// The event, the id, the name, the info and the addresses. Tabs and line ends in these are escaped.
    package var text: String {
        let entries = (info ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)".printable }
        let fields = [event.rawValue, id, name.printable, entries.joined(separator: " ")]
        return (fields + (addresses.map { [$0.joined(separator: " ")] } ?? [])).joined(separator: "\t")
    }
}
