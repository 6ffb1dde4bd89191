import MultipeerCore
import MultipeerHandshake

/// What a slow application has not taken: the cost of messages, by the connections that brought them, and the number of
/// events about each peer.
struct UnreadInput {
    struct ConnectionCost {
        let id: ConnectionID
        let uid: UID
        var cost: Int
    }

    /// The costs, in the order in which the connections brought their first message.
    private(set) var costs: [ConnectionCost] = []
    private(set) var events: [(uid: UID, count: Int)] = []

    func cost(of id: ConnectionID) -> Int { costs.first { $0.id == id }?.cost ?? 0 }

    /// Returns the cost of what all connections of a peer but the last have brought.
    func costOfFormer(_ uid: UID) -> Int {
        costs.filter { $0.uid == uid }.dropLast().reduce(0) { $0 + $1.cost }
    }

    func told(of uid: UID) -> Int { events.first { $0.uid == uid }?.count ?? 0 }

    mutating func add(_ cost: Int, on id: ConnectionID, of uid: UID) {
        if let place = costs.firstIndex(where: { $0.id == id }) {
            costs[place].cost += cost
        } else {
            costs.append(ConnectionCost(id: id, uid: uid, cost: cost))
        }
    }

    mutating func tell(of uid: UID) {
        if let place = events.firstIndex(where: { $0.uid == uid }) {
            events[place].count += 1
        } else {
            events.append((uid, 1))
        }
    }
}
