import MultipeerCore

/// Why the policy refused peers, the last few of them: the calls that waited for a link report it.
struct TrustRefusals {
    static let maximumCount = 32

    /// The oldest first.
    private var entries: [(peer: UID, reason: String)] = []

    subscript(peer: UID) -> String? { entries.last { $0.peer == peer }?.reason }

    mutating func add(_ peer: UID, _ reason: String) {
        forget(peer)
        if entries.count == TrustRefusals.maximumCount { entries.removeFirst() }
        entries.append((peer, reason))
    }

    mutating func forget(_ peer: UID) { entries.removeAll { $0.peer == peer } }
}
