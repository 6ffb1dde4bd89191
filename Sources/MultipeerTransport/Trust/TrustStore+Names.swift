package import MultipeerCore
public import MultipeerSecurity

// A name is recognised by what it looks like, which takes the tables of Unicode that Foundation has.

extension TrustStore {
    /// The entries of the peers with this name, or with another that looks the same: `аnn` with a Cyrillic letter is `ann`.
    public func entries(named name: String) -> [Entry] {
        if count == 0 { return [] }  // Computing what a name looks like takes longer than the rest.
        let skeleton = NameSkeleton(name)
        let known = Skeletons.shared.known
        var fresh: [String: NameSkeleton] = [:]
        let found = entries { entry in
            guard let other = entry.name else { return false }
            let form = known[other] ?? fresh[other] ?? NameSkeleton(other)
            if known[other] == nil { fresh[other] = form }
            return other == name || form.isConfusable(with: skeleton)
        }
        if !fresh.isEmpty { Skeletons.shared.keep(fresh) }
        return found
    }

    /// What the names of entries look like: unknown peers choose them, and can fill a store, so that each is computed once. Of the stores
    /// of a process, the second is the session's own.
    package final class Skeletons: Sendable {
        package static let shared = Skeletons()
        private let skeletons = Locked<[String: NameSkeleton]>([:])

        package var known: [String: NameSkeleton] { skeletons.withLock { $0 } }

        func keep(_ fresh: [String: NameSkeleton]) {
            skeletons.withLock { skeletons in
                if skeletons.count + fresh.count > 2 * maximumCount { skeletons = [:] }
                skeletons.merge(fresh) { $1 }
            }
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
