package import MultipeerCore
import MultipeerHandshake

/// The limit on unauthenticated connections: accepted ones without a valid CONFIRM so far. Spec 15.
/// [limit.unauthenticated]
///
/// At most 32, 4 from one address; the oldest is dropped first, so that idle connections cannot keep an honest peer
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

    /// Removes a connection that is authenticated, or has ended. A dialled one was never in the list.
    package mutating func remove(_ id: ConnectionID) { waiting.removeAll { $0.id == id } }
}
