/// Which tile is scanned where, and the results: a value that makes decisions and has no effects.
///
/// ```
/// waiting ──next──▶ given out ──found──▶ counted
///    ▲                 │  │
///    └───site lost─────┘  └──failed──▶ urgent ──next──▶ given out, at home and before all others
///                                        └──failed too often──▶ given up
/// ```
///
/// Each site has a limited number of tiles at a time. An answer counts only if its order is still open: the tiles of a lost
/// site are given out again, and its later answers are ignored. So every tile is counted once.
struct Survey<Site: Hashable & Sendable>: Sendable {
    /// One tile for one site.
    struct Order: Hashable, Sendable {
        /// A number that is unique to the order.
        let number: Int
        let tile: Int
        let site: Site
        /// 1 the first time; a tile that came back from a lost site does not count as tried.
        let attempt: Int
        /// Whether it failed before, and is repeated at home.
        let isUrgent: Bool
    }

    enum Outcome: Sendable {
        case found(Findings)
        case failed(String)
    }

    /// The effect of an answer.
    enum Note: Hashable, Sendable {
        case counted(Findings)
        /// It is scanned again, at home.
        case repeats(String)
        /// It failed too often.
        case gaveUp(String)
        /// The order was no longer open.
        case late
    }

    /// What one site has done.
    struct Tally: Sendable {
        let site: Site
        var isLost = false
        var inFlight: Set<Int> = []
        var counted = 0
        var failed = 0
        /// The tiles that it had when it was lost.
        var returned = 0
        /// The time that it took for all its answers.
        var spent = Duration.zero
    }

    let tiles: Int
    let limit: Int
    let attempts: Int
    private let home: Site
    private var waiting: [Int]
    private var urgent: [Int] = []
    private var orders: [Int: Order] = [:]
    private var orderCount = 0
    private var failures: [Int: Int] = [:]
    private var places: [Site: Int] = [:]
    /// The sites in the order in which they joined; the first is home, which is never lost.
    private(set) var tallies: [Tally] = []
    /// The findings by tile.
    private(set) var findings: [Int: Findings] = [:]
    private(set) var givenUp: [Int: String] = [:]

    init(tiles: Int, home: Site, limit: Int = 4, attempts: Int = 3) {
        (self.tiles, self.home, self.limit, self.attempts) = (tiles, home, limit, attempts)
        waiting = (0..<tiles).reversed()
        join(home)
    }

    /// Whether every tile was counted or given up.
    var isOver: Bool { findings.count + givenUp.count == tiles }

    /// Adds a site, which takes tiles from now on; it may be one that was lost and has come back.
    mutating func join(_ site: Site) {
        if let place = places[site] {
            tallies[place].isLost = false
            return
        }
        places[site] = tallies.count
        tallies.append(Tally(site: site))
    }

    /// Returns the next order, if a site has room: urgent tiles go home, others to the site with the fewest in flight.
    mutating func next() -> Order? {
        if !urgent.isEmpty, tallies[0].inFlight.count < limit {
            return order(urgent.removeFirst(), at: 0, isUrgent: true)
        }
        let free = tallies.indices.filter { !tallies[$0].isLost && tallies[$0].inFlight.count < limit }
        guard let place = free.min(by: { tallies[$0].inFlight.count < tallies[$1].inFlight.count }),
            let tile = waiting.popLast()
        else { return nil }
        return order(tile, at: place, isUrgent: false)
    }

    private mutating func order(_ tile: Int, at place: Int, isUrgent: Bool) -> Order {
        orderCount += 1
        let order = Order(
            number: orderCount, tile: tile, site: tallies[place].site,
            attempt: failures[tile, default: 0] + 1,
            isUrgent: isUrgent)
        orders[order.number] = order
        tallies[place].inFlight.insert(tile)
        return order
    }

    /// Takes the answer to an order, and the time that it took.
    mutating func take(_ outcome: Outcome, of number: Int, after time: Duration) -> Note {
        guard let order = orders.removeValue(forKey: number), let place = places[order.site] else {
            return .late
        }
        tallies[place].inFlight.remove(order.tile)
        tallies[place].spent += time
        switch outcome {
        case .found(let found) where found.tile == order.tile:
            tallies[place].counted += 1
            findings[order.tile] = found
            return .counted(found)
        case .found(let found):
            return fail(order, at: place, "\(found.tile) was scanned instead of \(order.tile)")
        case .failed(let why): return fail(order, at: place, why)
        }
    }

    private mutating func fail(_ order: Order, at place: Int, _ why: String) -> Note {
        tallies[place].failed += 1
        failures[order.tile, default: 0] += 1
        guard order.attempt < attempts else {
            givenUp[order.tile] = why
            return .gaveUp(why)
        }
        urgent.append(order.tile)
        return .repeats(why)
    }

    /// Removes a site that is gone: its tiles are given out again, before all others. Returns how many tiles that are.
    @discardableResult
    mutating func lose(_ site: Site) -> Int {
        guard site != home, let place = places[site], !tallies[place].isLost else { return 0 }
        tallies[place].isLost = true
        let lost = orders.values.filter { $0.site == site }.sorted { $0.number > $1.number }
        for order in lost {
            orders[order.number] = nil
            waiting.append(order.tile)
        }
        tallies[place].inFlight = []
        tallies[place].returned += lost.count
        return lost.count
    }

    /// Does the same for the site of an order. Returns nil if the order is no longer open: it then belongs to an earlier
    /// loss, and the site may have come back since.
    mutating func loseSite(of order: Order) -> Int? {
        orders[order.number] == nil ? nil : lose(order.site)
    }
}

extension Survey {
    var stars: Int { findings.values.reduce(0) { $0 + $1.stars.count } }

    /// A hash (FNV-1a) of the stars on all tiles, to compare results.
    var fingerprint: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ number: Int) {
            for shift in stride(from: 0, to: 64, by: 8) {
                hash = (hash ^ UInt64(truncatingIfNeeded: number >> shift) & 0xFF) &* 0x100_0000_01B3
            }
        }
        for (tile, found) in findings.sorted(by: { $0.key < $1.key }) {
            add(tile)
            for star in found.stars { [star.x, star.y, star.light].forEach { add($0) } }
        }
        return hash
    }
}
