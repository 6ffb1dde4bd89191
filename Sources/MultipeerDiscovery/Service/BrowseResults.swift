package import MultipeerCore

/// Who a browse has found, and what each of its readers was told of that. Spec 12.4.
///
/// ```
///   (unknown) ──there──▶ found ──says something else──▶ updated ──gone──▶ lost
/// ```
///
/// Both are kept once: what is true, and for each reader what it was told; the difference is what that reader hears next.
/// So one that lags behind hears what is true, once, and memory is bounded by how many peers there are, not by how often
/// they change. Each reader first gets everybody who is there; one that begins while nobody else reads goes on where the
/// last one stopped.
package struct BrowseResults: Sendable {
    package struct ReaderID: Hashable, Sendable { fileprivate let number: UInt64 }

    package enum Step: Equatable, Sendable {
        case event(BrowserEvent)
        /// The browse is over, and the reader was told that everybody is lost.
        case end
    }

    private struct Presence: Sendable {
        var peer: DiscoveredPeer
        let arrival: UInt64
    }

    package private(set) var isFinished = false
    private var present: [UID: Presence] = [:]
    private var arrivals: UInt64 = 0
    private var hidden: UID?
    private var readers: [ReaderID: Reader] = [:]
    private var lastReader: UInt64 = 0
    /// What the last reader that went was told.
    private var left: Reader?

    package init() {}
}

/// What a backend finds.
extension BrowseResults {
    /// Takes what a peer says now, nil when it is gone; the same more than once is no harm. Returns whether a reader that
    /// waits has something to take.
    package mutating func note(_ uid: UID, _ peer: DiscoveredPeer?) -> Bool {
        if isFinished || uid == hidden { return false }  // [mdns.self]
        if let peer {
            arrivals += 1
            present[uid] = Presence(peer: peer, arrival: present[uid]?.arrival ?? arrivals)
        } else {
            present[uid] = nil
        }
        left?.note(uid, peer)
        var hasNews = false
        // Not while iterating: that would copy what each was told.
        for id in Array(readers.keys) where readers[id]?.hasBegun == true {
            readers[id]?.note(uid, peer)
            hasNews = hasNews || readers[id]?.changed.isEmpty == false
        }
        return hasNews
    }

    /// Leaves a peer out from now on: the local one. [mdns.self]
    package mutating func hide(_ uid: UID) {
        _ = note(uid, nil)
        hidden = uid
    }

    /// Nobody looks any more: each reader hears that everybody it was told of is lost, and ends.
    package mutating func finish() {
        isFinished = true
        present = [:]
        left = nil
        for id in Array(readers.keys) {
            for uid in readers[id]?.told.keys.sorted() ?? [] { readers[id]?.note(uid, nil) }
        }
    }
}

/// What readers take.
extension BrowseResults {
    package mutating func makeReader() -> ReaderID {
        lastReader += 1
        let id = ReaderID(number: lastReader)
        readers[id] = Reader()
        return id
    }

    package mutating func remove(_ id: ReaderID) {
        guard let reader = readers.removeValue(forKey: id), reader.hasBegun, !isFinished else { return }
        if !readers.values.contains(where: \.hasBegun) { left = reader }
    }

    /// What the reader gets next; nil while there is nothing.
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
        if let left {
            reader = left
            self.left = nil
        } else {
            reader.changed = present.sorted { $0.value.arrival < $1.value.arrival }.map(\.key)
            reader.hasBegun = true
        }
    }

    /// Who is there, in the order of their names.
    package var peers: [DiscoveredPeer] {
        present.values.map(\.peer).sorted {
            ($0.peer.displayName, $0.peer.uid) < ($1.peer.displayName, $1.peer.uid)
        }
    }

    package func peer(_ uid: UID) -> DiscoveredPeer? { present[uid]?.peer }
}

/// What one reader was told.
private struct Reader: Sendable {
    var told: [UID: DiscoveredPeer] = [:]
    /// Those of whom it may not know what is true, in the order in which that began.
    var changed: [UID] = []
    /// Whether it has asked for something, and so takes part in what changes.
    var hasBegun = false

    /// Something has changed; `now` is what is true.
    mutating func note(_ uid: UID, _ now: DiscoveredPeer?) {
        let place = changed.firstIndex(of: uid)
        if told[uid] == now {  // [mdns.lost]
            if let place { changed.remove(at: place) }
        } else if place == nil {
            changed.append(uid)
        }
    }

    mutating func tell(_ uid: UID, _ now: DiscoveredPeer?) -> BrowserEvent? {
        let before = told[uid]
        if before == now { return nil }
        told[uid] = now
        guard let now else { return before.map { .lost($0.peer) } }  // [mdns.lost]
        return before == nil ? .found(now) : .updated(now)
    }
}
