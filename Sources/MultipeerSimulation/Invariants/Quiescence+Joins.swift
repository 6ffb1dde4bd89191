import MultipeerCore
import MultipeerEngine
import MultipeerLink
import MultipeerSecurity

// MARK: peers that join in quiescence

extension Quiescence {
    /// Joins pairs of applications that could make one mesh of two, with room for all their peers, and returns them.
    func join() -> [(Int, Int)] {
        guard !hasByzantinePeer, !hasTwins else { return [] }
        var pairs: [(Int, Int)] = []
        let all = components().sorted { $0[0].index < $1[0].index }
        guard let first = all.first, let last = all.last, all.count > 1,
            first.count + last.count <= scenario.cap
        else { return [] }
        for one in first {
            guard
                let other = last.first(where: { other in
                    world.network.reachability.canMeet(one.index, other.index) && mustLink(one, other)
                        && one.links.count < scenario.cap - 1 && other.links.count < scenario.cap - 1
                })
            else { continue }
            world.applications.join(one.index, other.index, joinsMesh: true, isAddressed: false)
            pairs.append((one.index, other.index))
            break
        }
        return pairs
    }

    func checkJoined(_ pairs: [(Int, Int)]) {
        for (one, other) in pairs where !areLinked(world.nodes[one], world.nodes[other]) {
            world.fail(.joins, "peers \(one) and \(other) joined in calm and are not linked")
        }
        check()
    }

    /// Joins two peers whose meshes have no room for each other, although both peers have free places. Returns whether
    /// there were such peers.
    func crowd() -> Bool {
        guard !hasByzantinePeer, !hasTwins else { return false }
        let all = components().sorted { $0[0].index < $1[0].index }
        for (place, near) in all.enumerated() {
            for far in all[(place + 1)...] where near.count + far.count > scenario.cap {
                for one in near where one.links.count < scenario.cap - 1 && counts(one, near) {
                    for other in far
                    where other.links.count < scenario.cap - 1 && makesMesh(one, other) && counts(other, far)
                    {
                        world.applications.join(one.index, other.index, joinsMesh: true, isAddressed: false)
                        return true
                    }
                }
            }
        }
        return false
    }

    /// Returns whether a peer knows that all members of its component exist: by a link, or because they answer its dials, if only
    /// with FULL, which shows on a TLS connection who sent it. It refuses a peer only for those. Spec 11.8.
    private func counts(_ node: Node, _ component: [Node]) -> Bool {
        component.allSatisfy { member in
            if member === node || areLinked(node, member) { return true }
            guard let address = member.candidate() else { return false }
            return outcome(node, member) == .encrypted
                && node.mesh.pauseEnd(of: address, for: member.endpoint) == nil
                && world.network.reachability.firewall(node.index, member.index) == .open
        }
    }

    private func makesMesh(_ one: Node, _ other: Node) -> Bool {
        mustLink(one, other) && !areLinked(one, other)
            && world.network.reachability.canMeet(one.index, other.index)
            && (one.profile.preference == .none) == (other.profile.preference == .none)
    }

    func checkRefused(_ before: Snapshot) {
        let after = snapshot()
        if after.links != before.links || after.instances != before.instances {
            world.fail(.refusal, "links were \(before.links), are \(after.links)")
        }
    }
}
