import Multipeer

/// Files that others have offered and nobody has answered yet, by number.
struct RoomOffers: Sendable {
    private var offers: [Int: IncomingResource] = [:]
    private var last = 0
    /// What is being received.
    var receptions: [Int: IncomingResource] = [:]

    mutating func add(_ resource: IncomingResource) -> Int {
        last += 1
        offers[last] = resource
        return last
    }

    mutating func take(_ number: Int) -> IncomingResource? { offers.removeValue(forKey: number) }

    /// They go with the link.
    mutating func remove(of peer: PeerID) { offers = offers.filter { $0.value.peer != peer } }
}
