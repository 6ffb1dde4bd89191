import MultipeerCore
import MultipeerSecurity

/// The keys that were verified in this session, and how. They stay valid when a link ends: a key proves its holder as long as
/// there is one.
struct VerifiedKeys {
    private struct Entry {
        let peer: UID
        let key: Fingerprint
        let means: PeerVerification.Means
    }

    /// Users verify each of them, so they are few; the oldest is dropped.
    static let maximumCount = 256

    /// The oldest first.
    private var entries: [Entry] = []

    subscript(peer: UID, key: Fingerprint) -> PeerVerification.Means? {
        entries.last { $0.peer == peer && $0.key == key }?.means
    }

    mutating func add(_ peer: UID, _ key: Fingerprint, _ means: PeerVerification.Means) {
        entries.removeAll { $0.peer == peer && $0.key == key }
        if entries.count == VerifiedKeys.maximumCount { entries.removeFirst() }
        entries.append(Entry(peer: peer, key: key, means: means))
    }
}
