import MultipeerCore
import MultipeerEngine

// MARK: members that a fault has separated

extension Quiescence {
    /// How long a member is missed by the node that lost it, and a little less. [mesh.missed]
    private static let missed = Duration.seconds(590)
    /// After a longer jump of its clock all connection data of a node have expired, or soon will.
    private static let validity: Int64 = 80_000_000_000_000

    /// Checks that members that lost each other are in one mesh again, if it has room for both sides; with `pairs`, that these
    /// are, all of which `separated` returned before.
    func checkReunions(_ pairs: Set<Set<Endpoint>>? = nil) {
        for pair in separated() where pairs?.contains(pair) ?? true {
            let members = nodes.filter { pair.contains($0.endpoint) }.map(\.index)
            world.fail(.reunion, "peers \(members) lost each other, and are in two meshes")
        }
    }

    /// Returns pairs of members, each of which the other lost, and which are in different meshes that fit into one.
    func separated() -> Set<Set<Endpoint>> {
        guard !hasByzantinePeer, !hasTwins else { return [] }
        var pairs: Set<Set<Endpoint>> = []
        let components = components()
        for (place, one) in components.enumerated() {
            for other in components[(place + 1)...]
            where Set((one + other).map(\.uid)).count <= scenario.cap {
                for near in one {
                    for far in other where misses(near, far) && misses(far, near) && canLink(near, far) {
                        pairs.insert([near.endpoint, far.endpoint])
                    }
                }
            }
        }
        return pairs
    }

    private func misses(_ node: Node, _ other: Node) -> Bool {
        guard node.host.offset < Quiescence.validity, let since = node.lost[other.endpoint] else {
            return false
        }
        return world.moment(node) - since < Quiescence.missed
    }

    private func canLink(_ one: Node, _ other: Node) -> Bool {
        mustLink(one, other) && world.network.reachability.canMeet(one.index, other.index)
            && [one, other].allSatisfy { $0.links.count < scenario.cap - 1 }
    }
}
