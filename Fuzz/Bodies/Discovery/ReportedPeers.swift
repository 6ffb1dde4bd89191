import MultipeerCore
import MultipeerDiscovery

/// The peers that one browser reports, which must agree with each other.
struct ReportedPeers {
    private let hidden: UID?
    private var results = BrowseResults()
    private let reader: BrowseResults.ReaderID
    private var found: [UID: DiscoveredPeer] = [:]

    init(hidden: UID?) {
        self.hidden = hidden
        reader = results.makeReader()
    }

    /// Handles what an engine reports of one peer: its current data, or nil when it is gone.
    mutating func hear(_ peer: PresentPeer?, _ uid: UID) throws(BrokenPromise) {
        try promise(
            peer.map { $0.peer.peer.uid == uid } ?? true, "an event about a peer has that peer's info")
        _ = results.note(uid, peer)
        while case .event(let event)? = results.next(for: reader) { try hear(event) }
        try promise(
            found == Dictionary(results.peers.map { ($0.peer.uid, $0) }) { $1 },
            "a reader without pending events has the current state")
        try promise(found.count <= 512, "there are at most 256 peers on an interface")
    }

    private mutating func hear(_ event: DiscoveredPeer.Event) throws(BrokenPromise) {
        switch event {
        case .found(let peer):
            try promise(found[peer.peer.uid] == nil, "a peer is found once")
            try promise(peer.peer.uid != hidden, "no peer finds itself")
            found[peer.peer.uid] = peer
        case .updated(let peer):
            let before = found.updateValue(peer, forKey: peer.peer.uid)
            try promise(before != nil && before != peer, "an updated peer was found before, and has changed")
        case .lost(let peer):
            try promise(found.removeValue(forKey: peer.uid) != nil, "a lost peer was found before")
        }
    }
}
