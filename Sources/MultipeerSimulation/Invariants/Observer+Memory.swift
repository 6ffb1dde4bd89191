import MultipeerCore
import MultipeerEngine

// MARK: what a peer holds

extension Observer {
    /// Checks, once all actions are carried out, that the bytes that the engine reports as held are those that came and
    /// were not taken, and no more than its limit.
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

    /// Checks the messages that wait: at most the window of each link and one message that is longer, and for all former
    /// links together no more than once.
    func watchUntaken(_ socket: SimulatedSocket, _ node: Node) {
        let cost = node.application.unreadInput.cost(of: socket.id)
        let limit = Int(node.profile.credit) + Observer.longestCost
        if cost > limit {
            fail(.memory, "\(name(socket)) brought \(cost) that was not consumed; \(limit) may wait")
        }
    }

    /// Checks a link that begins while an application takes nothing: the messages of all links before the last one fit
    /// into one window, and the events about the peer are within their limit. [limit.relink]
    func watchRelink(_ uid: UID, _ node: Node) {
        let (cost, told) = (
            node.application.unreadInput.costOfFormer(uid), node.application.unreadInput.told(of: uid)
        )
        if cost > Int(node.profile.credit) || told > Observer.mostTold {
            fail(.memory, "peer \(node.index) is linked again, and \(cost) and \(told) events are not taken")
        }
    }

    /// 64 events, and those between CONFIRM and SELECTED.
    private static let mostTold = 72

    /// The cost of a message of the longest kind, in parts.
    private static let longestCost = 80_000
}
