package import Multipeer
import MultipeerCommandLine

/// One thing that `multipeer browse` has seen, for programs: a line of JSON, or fields with tabs between them.
package struct BrowseLine: Encodable, Sendable {
    package enum Event: String, Encodable, Sendable {
        case found, updated, lost
    }

    package let event: Event
    /// All digits of the peer's id.
    package let id: String
    package let name: String
    /// Nothing for one that is lost.
    package let info: [String: String]?
    /// Where it can be dialled, when that was asked for.
    package let addresses: [String]?
    /// Seconds since the command began to look.
    package let seconds: Double

    package init(
        _ event: Event, _ peer: PeerID, info: [String: String]? = nil, addresses: [SocketAddress]? = nil,
        at time: Duration
    ) {
        self.event = event
        id = peer.id
        name = peer.displayName
        self.info = info
        self.addresses = addresses.map { $0.map(\.description) }
        seconds = time.seconds
    }

    /// What happened, the id, the name, the info and the addresses. Nothing in it can be taken for a tab or an end of line.
    package var text: String {
        let entries = (info ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)".printable }
        let fields = [event.rawValue, id, name.printable, entries.joined(separator: " ")]
        return (fields + (addresses.map { [$0.joined(separator: " ")] } ?? [])).joined(separator: "\t")
    }
}
