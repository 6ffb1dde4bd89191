package import MultipeerCore
import MultipeerIntroduction

/// The limit on unauthenticated connections: accepted ones that have brought no valid CONFIRM. Spec 15.
/// [limit.unauthenticated]
///
/// There are 32 at most, 4 from one address; the oldest goes first, so that idle connections cannot keep an honest peer
/// out.
package struct UnauthenticatedConnections: Sendable {
    static let limit = 32
    static let limitPerAddress = 4

    private var waiting: [(id: ConnectionID, address: [UInt8])] = []

    package init() {}

    /// Adds a connection and returns those that have to be dropped for it. [limit.unauthenticated]
    package mutating func add(_ id: ConnectionID, from address: [UInt8]) -> [ConnectionID] {
        waiting.append((id, address))
        var dropped: [ConnectionID] = []
        if waiting.count(where: { $0.address == address }) > Self.limitPerAddress,
            let oldest = waiting.firstIndex(where: { $0.address == address })
        {
            dropped.append(waiting.remove(at: oldest).id)
        }
        if waiting.count > Self.limit { dropped.append(waiting.removeFirst().id) }
        return dropped
    }

    /// The connection is authenticated, or gone. One that was dialled never was here.
    package mutating func remove(_ id: ConnectionID) { waiting.removeAll { $0.id == id } }
}
