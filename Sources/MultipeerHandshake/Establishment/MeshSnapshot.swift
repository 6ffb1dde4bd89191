package import MultipeerCore
import MultipeerFraming

/// The members of the local peer's mesh, and whether it has room for more. Spec 11.
package struct MeshSnapshot: Equatable, Sendable {
    package let local: UID
    /// The maximum number of peers, including the local one.
    package let limit: Int
    /// The members besides the local peer, in the order of their ids.
    package var members: [Endpoint] = []

    package init(_ local: UID, limit: Int = Limits.peers) {
        self.local = local
        self.limit = limit
    }

    /// Returns whether all members would fit into one mesh if a peer that lists these members were linked. Two peers that
    /// list each other are already in one mesh, so a link between them adds no member. [mesh.full]
    package func admits(_ remote: Endpoint, listing: [Endpoint]) -> Bool {
        if members.contains(remote), listing.contains(where: { $0.uid == local }) { return true }
        var together: Set<UID> = [local, remote.uid]
        together.formUnion(members.map(\.uid))
        together.formUnion(listing.map(\.uid))
        return together.count <= limit
    }
}
