import MultipeerCore
import MultipeerEngine

// MARK: what a peer holds

extension Observer {
    /// Once everything is carried out: what the engine says that it holds is what came and was not taken, and no more than
    /// it may be.
    func watchMemory(_ node: Node) {
        guard failure == nil, node.hearsChannels else { return }
        let held = node.engine.links.heldBytes
        let counted = node.links.reduce(0) { sum, socket in
            socket.connection.channels.reduce(sum) { $0 + ($1.end == socket.end ? 0 : $1.held) }
        }
        if held != counted || held > node.profile.memory {
            fail(
                .memory,
                "peer \(node.index) holds \(held) bytes of channels; \(counted) wait, \(node.profile.memory) may"
            )
        }
        node.hearsChannels = held > 0
    }

    /// Messages that wait: the window of each link, one message that is longer, and of former links no more than once.
    func watchUntaken(_ socket: SimulatedSocket, _ node: Node) {
        let cost = node.application.unreadInput.cost(of: socket.id)
        let limit = Int(node.profile.credit) + Observer.longestCost
        if cost > limit {
            fail(.memory, "\(name(socket)) brought \(cost) that nobody took; \(limit) may wait")
        }
    }

    /// A link begins while an application takes nothing: what links before the last one brought fits into one window, and
    /// what it was told of the peer is not too much. [limit.relink]
    func watchRelink(_ uid: UID, _ node: Node) {
        let (cost, told) = (
            node.application.unreadInput.costOfFormer(uid), node.application.unreadInput.told(of: uid)
        )
        if cost > Int(node.profile.credit) || told > Observer.mostTold {
            fail(.memory, "peer \(node.index) is linked again, and \(cost) and \(told) events are not taken")
        }
    }

    /// 64, and what is told between CONFIRM and SELECTED.
    private static let mostTold = 72

    /// What a message of the longest kind costs, in parts.
    private static let longestCost = 80_000
}
