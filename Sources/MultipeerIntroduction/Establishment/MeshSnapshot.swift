package import MultipeerCore
import MultipeerFraming

/// Who is in the mesh with the local peer, and whether there is room for more. Spec 11.
package struct MeshSnapshot: Equatable, Sendable {
    package let local: UID
    /// Peers at the most, the local one included.
    package let limit: Int
    /// The members besides the local peer, in the order of their ids.
    package var members: [Endpoint] = []

    package init(_ local: UID, limit: Int = Limits.peers) {
        self.local = local
        self.limit = limit
    }

    /// Whether all would fit into one mesh if a peer that lists these members were linked. Two that each list the other are
    /// in one mesh already, and a link between them adds nobody. [mesh.full]
    package func admits(_ remote: Endpoint, listing: [Endpoint]) -> Bool {
        if members.contains(remote), listing.contains(where: { $0.uid == local }) { return true }
        var together: Set<UID> = [local, remote.uid]
        together.formUnion(members.map(\.uid))
        together.formUnion(listing.map(\.uid))
        return together.count <= limit
    }
}
