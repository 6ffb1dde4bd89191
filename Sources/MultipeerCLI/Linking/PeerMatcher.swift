package import Multipeer

/// Those of whom one is sought, as they come and go. Pure: the caller has the clock.
package struct PeerMatcher: Sendable {
    package enum Verdict: Equatable, Sendable {
        /// Nobody yet, or somebody whose double may still come.
        case open
        case found(PeerID)
        /// These are all meant.
        case several([PeerID])
    }

    /// How long others may take to be seen after the first: several of one name answer within a fraction of it.
    package static let patience = Duration.milliseconds(500)

    private let selector: PeerSelector
    private var peers: [PeerID: DiscoveredPeer] = [:]
    /// When the first that is meant came.
    private var first: Duration?

    package init(for selector: PeerSelector) { self.selector = selector }

    package mutating func note(_ event: BrowserEvent, at time: Duration) {
        switch event {
        case .found(let peer), .updated(let peer): peers[peer.peer] = peer
        case .lost(let peer): peers[peer] = nil
        }
        first = matches.isEmpty ? nil : first ?? time
    }

    package func verdict(at time: Duration) -> Verdict {
        guard let first, let one = matches.first else { return .open }
        if selector.isExact { return .found(one) }
        guard time - first >= PeerMatcher.patience else { return .open }
        return matches.count == 1 ? .found(one) : .several(matches)
    }

    /// When to ask for the verdict again if nothing happens; nil while there is nobody.
    package var deadline: Duration? { first.map { $0 + PeerMatcher.patience } }

    /// Why nobody was found, for people.
    package var summary: String {
        let meant = peers.values.map(\.peer).filter(selector.means)
        if let one = meant.sorted(by: { $0.uid < $1.uid }).first {
            return "\(one.introduction) is there, but does not receive: 'multipeer receive' does"
        }
        let names = receivers.map(\.introduction)
        guard !names.isEmpty else { return "nobody who receives was found" }
        let more = names.count > 8 ? " and \(names.count - 8) more" : ""
        return "only \(names.prefix(8).joined(separator: ", "))\(more)"
    }

    private var receivers: [PeerID] {
        peers.values.filter { PeerRole(info: $0.info) == .receive }.map(\.peer)
            .sorted { ($0.displayName, $0.uid) < ($1.displayName, $1.uid) }
    }

    private var matches: [PeerID] { receivers.filter(selector.means) }
}
