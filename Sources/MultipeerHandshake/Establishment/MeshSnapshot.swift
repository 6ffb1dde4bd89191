package import MultipeerCore
import MultipeerFraming

/// The members of the local peer's mesh, and whether it has room for more. Spec 11.
package struct MeshSnapshot: Equatable, Sendable {
    package let local: UID
    /// The maximum number of peers, including the local one.
    package let limit: Int
    /// The members besides the local peer, in the order of their ids.
    package var members: [Endpoint] = []
    /// Those of them that do not count, because only one other member vouches for them. [mesh.full]
    package var uncounted: Set<UID> = []

    package init(_ local: UID, limit: Int = Limits.peers) {
        self.local = local
        self.limit = limit
    }

    /// Returns whether there is room for this peer, which may be a member already.
    package func hasRoom(for uid: UID) -> Bool {
        if members.contains(where: { $0.uid == uid }) { return true }
        return Set(members.map(\.uid)).subtracting(uncounted).count + 1 < limit
    }

    /// Returns the members that HELLO lists: those that count, and the receiver, so that it knows that it is one.
    /// [hello.members]
    func listed(for receiver: Endpoint) -> [Endpoint] {
        uncounted.isEmpty ? members : members.filter { !uncounted.contains($0.uid) || $0 == receiver }
    }

    /// Returns whether all members that count would fit into one mesh if a peer that lists these members were linked. Two peers that
    /// list each other are already in one mesh, so a link between them adds no member. [mesh.full]
    package func admits(_ remote: Endpoint, listing: [Endpoint]) -> Bool {
        if members.contains(remote), listing.contains(where: { $0.uid == local }) { return true }
        var together: Set<UID> = [local, remote.uid]
        together.formUnion(members.lazy.map(\.uid).filter { !uncounted.contains($0) })
        together.formUnion(listing.map(\.uid))
        return together.count <= limit
    }
}
