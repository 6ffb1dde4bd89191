package import MultipeerCore

/// The limit on unauthenticated connections: accepted ones without a valid CONFIRM, or without INVITE, so far. Spec 15.
/// [limit.unauthenticated]
///
/// At most 96, 4 from one address, and 32 more for the addresses of expected peers, 4 for each of these peers: those on
/// one machine, and those that share a router, have one address. When one more comes, one drawn at random is
/// dropped: dropping the oldest would let a flood from many addresses push out every honest peer before its handshake is over.
/// A connection younger than 200 ms is never dropped for another, so that a handshake can finish.
package struct UnauthenticatedConnections: Sendable {
    package static let limit = 96
    package static let limitPerAddress = 4
    package static let expectedLimit = 32
    package static let youth = Duration.milliseconds(200)

    /// A place for one more connection.
    package struct Place: Sendable {
        fileprivate let origin: Origin
        /// The connection that has to be dropped for it; it is no longer in the list.
        package let dropped: ConnectionID?
    }

    /// Connections that share a limit: those of an address of expected peers, or those of an address group.
    fileprivate enum Origin: Hashable, Sendable {
        case expected([UInt8])
        case other(AddressGroup)

        var isExpected: Bool { if case .expected = self { true } else { false } }
    }

    private struct Entry: Sendable {
        let id: ConnectionID
        let origin: Origin
        let since: Moment
    }

    private var waiting: [Entry] = []
    private var random: Jitter

    /// Creates an empty list. `seed` feeds the draws.
    package init(seed: UInt64) { random = Jitter(seed: seed) }

    /// The number of connections in the list.
    package var count: Int { waiting.count }

    /// Makes room for a connection from this address; returns nil when there is none. `expectedPeers`: how many peers are expected
    /// whose connection data contain the address. [limit.unauthenticated]
    package mutating func makeRoom(
        for address: [UInt8], expectedPeers: Int = 0, at now: Moment
    ) -> Place? {
        let isExpected = expectedPeers > 0
        let origin = isExpected ? Origin.expected(address) : .other(AddressGroup(address))
        let isCrowded = waiting.count { $0.origin == origin } >= Self.limitPerAddress * max(expectedPeers, 1)
        let limit = isExpected ? Self.expectedLimit : Self.limit
        guard isCrowded || waiting.count(where: { $0.origin.isExpected == isExpected }) >= limit else {
            return Place(origin: origin, dropped: nil)
        }
        let old = waiting.filter {
            (isCrowded ? $0.origin == origin : $0.origin.isExpected == isExpected)
                && now - $0.since >= Self.youth
        }
        guard let drawn = old.randomElement(using: &random) else { return nil }
        remove(drawn.id)
        return Place(origin: origin, dropped: drawn.id)
    }

    /// Puts a connection in a place that was made for it.
    package mutating func add(_ id: ConnectionID, in place: Place, at now: Moment) {
        waiting.append(Entry(id: id, origin: place.origin, since: now))
    }

    /// Removes a connection that is authenticated, or has ended. A dialled one was never in the list.
    package mutating func remove(_ id: ConnectionID) { waiting.removeAll { $0.id == id } }
}
