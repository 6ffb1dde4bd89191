extension TrustEvidence {
    /// What a trust store knows about a peer, by its id, its key and its name.
    public struct Known: Hashable, Sendable {
        /// The entry of the peer's id.
        public let peer: TrustStore.Entry?
        /// The entries with the peer's key.
        public let key: [TrustStore.Entry]
        /// The entries with the peer's name, or with one that looks the same.
        public let name: [TrustStore.Entry]

        package init(
            peer: TrustStore.Entry?, key: [TrustStore.Entry], name: [TrustStore.Entry]
        ) {
            self.peer = peer
            self.key = key
            self.name = name
        }
    }

    /// What a trust store says of a link with a peer.
    public enum Contact: Hashable, Sendable {
        /// Nothing is known of the peer's id, key or name.
        case first
        /// The key is known, under this name.
        case known(TrustStore.Entry)
        /// The key is known, under another name.
        case renamed(TrustStore.Entry)
        /// A peer with this id, or with a name that looks like this one, is known with this other key.
        case changed(TrustStore.Entry)
    }

    /// What the trust store says of this peer.
    public var contact: Contact {
        if let entry = known.peer, entry.fingerprint != fingerprint { return .changed(entry) }
        let own = known.key.filter { $0.name == nil || known.name.contains($0) }
        if let entry = own.first(where: { $0.verifiedBy != nil }) ?? own.first { return .known(entry) }
        let others = known.name
        if let entry = others.first(where: { $0.verifiedBy != nil }) ?? others.first {
            return .changed(entry)
        }
        return known.key.first.map { .renamed($0) } ?? .first
    }

    /// Why the contact contradicts what is remembered, in words and without the peer's names; nil if it does not.
    public var contradiction: String? {
        func since(_ entry: TrustStore.Entry) -> String {
            entry.since.map { " since \(CalendarDate(secondsSince1970: $0))" } ?? ""
        }
        switch contact {
        case .first, .known: return nil
        case .renamed(let entry): return "the key has been known\(since(entry)) under another name"
        case .changed(let entry):
            let new = fingerprint.map { "new \($0.short)" } ?? "now none"
            return "the key has changed\(since(entry)): old \(entry.fingerprint.short), \(new)"
        }
    }
}
