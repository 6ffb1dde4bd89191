import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport

/// Who is seen by a browser, over all its starts: for `peers`, and on the way to `events`.
final class Sightings: Sendable {
    let events: DiscoveryEvents

    private let feed: DiscoveryFeed
    private let local: PeerID
    private let seen = Locked<[UID: DiscoveredPeer]>([:])

    /// All but `local`.
    init(besides local: PeerID) {
        self.local = local
        feed = DiscoveryFeed()
        events = DiscoveryEvents(feed) {}
    }

    /// In the order of their names.
    var peers: [DiscoveredPeer] {
        seen.withLock { Array($0.values) }.sorted {
            ($0.peer.displayName, $0.peer.uid) < ($1.peer.displayName, $1.peer.uid)
        }
    }

    /// Who is seen under that id.
    func peer(_ uid: UID) -> PeerID? { seen.withLock { $0[uid]?.peer } }

    func note(_ event: BrowserEvent) {
        switch event {
        case .found(let peer), .updated(let peer):
            if peer.peer == local { return }  // [mdns.self]
            seen.withLock { $0[peer.peer.uid] = peer }
        case .lost(let peer):
            seen.withLock { $0[peer.uid] = nil }
        }
        feed.hear(event)
    }

    /// Nobody looks any more: all are lost, and every iteration over the events ends with that.
    func end() {
        for peer in peers { note(.lost(peer.peer)) }
        feed.endReaders()
    }
}
