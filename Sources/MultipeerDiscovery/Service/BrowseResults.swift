package import MultipeerCore

/// The peers that a browse has found, and what each of its readers has received. Spec 12.4.
///
/// ```
///   (unknown) ──present──▶ found ──changed──▶ updated ──gone──▶ lost
///                            ▲                                   │
///                            └─lost──restarted, or missed and back─┘
/// ```
///
/// It stores the current state once, and for each reader the state that it has received; the difference is what that
/// reader receives next. A slow reader therefore receives the latest state once, and memory is bounded by the number of
/// peers, not by how often they change. Each reader first receives every present peer; one that begins while there is no
/// other reader continues where the last one stopped. A separate reader does neither, and affects no other.
package struct BrowseResults: Sendable {
    package struct ReaderID: Hashable, Sendable { fileprivate let number: UInt64 }

    package enum Step: Equatable, Sendable {
        case event(DiscoveredPeer.Event)
        /// The browse has ended, and the reader has received the loss of every peer.
        case end
    }

    private struct Presence: Sendable {
        var peer: PresentPeer
        let arrival: UInt64
    }

    package private(set) var isFinished = false
    private var present: [UID: Presence] = [:]
    private var arrivals: UInt64 = 0
    private var hidden: UID?
    /// The peers to which a link was lost, until each is there again.
    private var missed: Set<UID> = []
    /// The peers that were lost last, the latest at the end.
    private var former: [DiscoveredPeer] = []
    private var readers: [ReaderID: Reader] = [:]
    private var lastReader: UInt64 = 0
    /// The state of the last reader that left.
    private var left: Reader?

    package init() {}
}

/// Input from a backend.
extension BrowseResults {
    /// Takes a peer's current data, nil when it is lost; repetition is harmless. Returns whether there is an event for a
    /// waiting reader.
    package mutating func note(_ uid: UID, _ peer: PresentPeer?) -> Bool {
        if isFinished || uid == hidden { return false }  // [mdns.self]
        guard var peer else {
            if let last = present.removeValue(forKey: uid)?.peer.peer { remember(last) }
            return show(uid, nil)
        }
        if let known = present[uid] {
            peer.returns = known.peer.returns
        } else {
            missed.remove(uid)
        }
        arrivals += 1
        present[uid] = Presence(peer: peer, arrival: present[uid]?.arrival ?? arrivals)
        return show(uid, peer)
    }

    /// Notes that a link to a peer was lost. Returns nil if the peer is neither present nor one of those that were lost last.
    package mutating func miss(_ uid: UID) -> PeerID? {
        if isFinished || uid == hidden { return nil }
        guard let known = present[uid]?.peer.peer.peer ?? former.last(where: { $0.peer.uid == uid })?.peer
        else {
            return nil
        }
        missed.insert(uid)
        return known
    }

    /// Whether a peer is missed that is not there again.
    package func isMissed(_ uid: UID) -> Bool { !isFinished && missed.contains(uid) }

    /// Notes that a peer is linked: it is no longer missed.
    package mutating func linked(_ uid: UID) { missed.remove(uid) }

    /// Notes that a peer has answered. If it was missed, and never lost meanwhile, it is lost and found for every reader. Returns
    /// whether there is an event for a waiting one. [mdns.missed]
    package mutating func cameBack(_ uid: UID) -> Bool {
        guard missed.contains(uid), var presence = present[uid] else { return false }
        missed.remove(uid)
        presence.peer.returns += 1
        present[uid] = presence
        return show(uid, presence.peer)
    }

    private mutating func show(_ uid: UID, _ peer: PresentPeer?) -> Bool {
        left?.note(uid, peer)
        var hasNews = false
        // Not while iterating over the dictionary: that would copy each reader's state.
        for id in Array(readers.keys) where readers[id]?.hasBegun == true {
            readers[id]?.note(uid, peer)
            hasNews = hasNews || readers[id]?.changed.isEmpty == false
        }
        return hasNews
    }

    private mutating func remember(_ peer: DiscoveredPeer) {
        former.removeAll { $0.peer == peer.peer }
        former.append(peer)
        if former.count > BrowseResults.mostFormer { former.removeFirst() }
    }

    private static let mostFormer = 64

    /// Hides a peer from now on: the local one. [mdns.self]
    package mutating func hide(_ uid: UID) {
        _ = note(uid, nil)
        hidden = uid
    }

    /// Ends the browse: each reader receives the loss of every peer that was reported to it, then the end.
    package mutating func finish() {
        isFinished = true
        present = [:]
        left = nil
        for id in Array(readers.keys) {
            for uid in readers[id]?.told.keys.sorted() ?? [] { readers[id]?.note(uid, nil) }
        }
    }
}

/// Output to readers.
extension BrowseResults {
    package mutating func makeReader(isSeparate: Bool = false) -> ReaderID {
        lastReader += 1
        let id = ReaderID(number: lastReader)
        readers[id] = Reader(isSeparate: isSeparate)
        return id
    }

    package mutating func remove(_ id: ReaderID) {
        guard let reader = readers.removeValue(forKey: id), reader.hasBegun, !reader.isSeparate, !isFinished
        else { return }
        if !readers.values.contains(where: { $0.hasBegun && !$0.isSeparate }) { left = reader }
    }

    /// Returns the reader's next step; nil while there is none.
    package mutating func next(for id: ReaderID) -> Step? {
        guard var reader = readers.removeValue(forKey: id) else { return .end }
        defer { readers[id] = reader }
        if !reader.hasBegun, !isFinished { begin(&reader) }
        while !reader.changed.isEmpty {
            let uid = reader.changed.removeFirst()
            if let event = reader.tell(uid, present[uid]?.peer) { return .event(event) }
        }
        return isFinished ? .end : nil
    }

    private mutating func begin(_ reader: inout Reader) {
        if let left, !reader.isSeparate {
            reader = left
            self.left = nil
        } else {
            reader.changed = present.sorted { $0.value.arrival < $1.value.arrival }.map(\.key)
            reader.hasBegun = true
        }
    }

    /// The present peers, in the order of their names.
    package var peers: [DiscoveredPeer] {
        present.values.map(\.peer.peer).sorted {
            ($0.peer.displayName, $0.peer.uid) < ($1.peer.displayName, $1.peer.uid)
        }
    }

    package func peer(_ uid: UID) -> DiscoveredPeer? { present[uid]?.peer.peer }
}

/// The state of one reader.
private struct Reader: Sendable {
    /// Whether it neither continues what another reader began nor is continued by another.
    var isSeparate = false
    var told: [UID: PresentPeer] = [:]
    /// The peers whose state it may not have received, in the order of their first change.
    var changed: [UID] = []
    /// Whether it has requested a step, and therefore follows changes.
    var hasBegun = false

    /// Handles a change; `now` is the current state.
    mutating func note(_ uid: UID, _ now: PresentPeer?) {
        let place = changed.firstIndex(of: uid)
        if told[uid] == now {  // [mdns.lost]
            if let place { changed.remove(at: place) }
        } else if place == nil {
            changed.append(uid)
        }
    }

    mutating func tell(_ uid: UID, _ now: PresentPeer?) -> DiscoveredPeer.Event? {
        let before = told[uid]
        if before == now { return nil }
        if let now, let before, now.isNews(after: before) {
            // The next step reports that it was found.
            told[uid] = nil
            changed.insert(uid, at: 0)
            return .lost(before.peer.peer)
        }
        told[uid] = now
        guard let now else { return before.map { .lost($0.peer.peer) } }  // [mdns.lost]
        return before == nil ? .found(now.peer) : .updated(now.peer)
    }
}
