import MultipeerEssentials

/// Files that peers have offered and that are neither accepted nor declined, by number.
struct RoomOffers: Sendable {
    private var offers: [Int: IncomingResource] = [:]
    private var last = 0
    /// The files that are being received.
    var receptions: [Int: IncomingResource] = [:]

    mutating func add(_ resource: IncomingResource) -> Int {
        last += 1
        offers[last] = resource
        return last
    }

    mutating func take(_ number: Int) -> IncomingResource? { offers.removeValue(forKey: number) }

    /// Removes an offer that its sender has withdrawn; returns false if it was accepted or declined before.
    mutating func withdraw(_ number: Int) -> Bool { offers.removeValue(forKey: number) != nil }

    /// Removes the offers of a peer whose link has ended.
    mutating func remove(of peer: PeerID) { offers = offers.filter { $0.value.peer != peer } }
}
