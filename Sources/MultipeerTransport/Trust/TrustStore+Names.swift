package import MultipeerCore
public import MultipeerSecurity

// A name is recognised by what it looks like, which takes the tables of Unicode that Foundation has.

extension TrustStore {
    /// The entries of the peers with this name, or with another that looks the same: `аnn` with a Cyrillic letter is `ann`.
    public func entries(named name: String) -> [Entry] {
        if count == 0 { return [] }  // Computing what a name looks like takes longer than the rest.
        let skeleton = NameSkeleton(name)
        return entries { entry in
            entry.name.map { $0 == name || NameSkeleton($0).isConfusable(with: skeleton) } ?? false
        }
    }
}

extension TrustEvidence.Known {
    /// Looks a peer up; without stores nothing is known.
    package init(
        _ peer: UID, named name: String, _ fingerprint: Fingerprint?, in stores: [TrustStore] = []
    ) {
        self.init(
            peer: stores.lazy.compactMap { $0[peer] }.first,
            key: fingerprint.map { key in stores.flatMap { $0.entries(of: key) } } ?? [],
            name: stores.flatMap { $0.entries(named: name) })
    }
}

extension TrustEvidence {
    /// Returns the same evidence with what these stores know.
    package func with(_ stores: [TrustStore]) -> TrustEvidence {
        TrustEvidence(
            peer: peer, name: name, chain: chain, fingerprint: fingerprint, origin: origin,
            known: Known(peer, named: name, fingerprint, in: stores), now: now)
    }
}
