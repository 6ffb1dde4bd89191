import MultipeerCore

/// The keys under which the event queue counts events about peers, which have no credit. A peer has one while an event waits.
struct PeerEventKeys {
    private var keys: [UID: Int] = [:]
    private var waiting: [Int: (uid: UID, events: Int)] = [:]
    private var last = CostTotals.firstEventKey

    /// Adds one event about a peer; returns its key.
    mutating func add(_ uid: UID) -> Int {
        let key = keys[uid] ?? last + 1
        last = max(last, key)
        keys[uid] = key
        let known = waiting[key]?.events ?? 0
        waiting[key] = (uid, known + 1)
        return key
    }

    /// The key of a peer with events that wait.
    subscript(uid: UID) -> Int? { keys[uid] }

    /// Counts `events` as taken; returns the peer, or nil for an unknown key.
    mutating func take(_ events: Int, key: Int) -> UID? {
        guard let known = waiting[key] else { return nil }
        waiting[key] = known.events > events ? (known.uid, known.events - events) : nil
        if waiting[key] == nil { keys[known.uid] = nil }
        return known.uid
    }
}
