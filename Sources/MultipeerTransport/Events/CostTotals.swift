/// Sums of costs, one for each key: how much of each peer's credit a batch of events used.
package struct CostTotals: Hashable, Sendable {
    package struct Sum: Hashable, Sendable {
        package let key: Int
        package fileprivate(set) var cost: Int
    }

    /// In the order in which the keys appeared; there are as many as peers, a handful.
    package private(set) var sums: [Sum] = []

    package init() {}

    package var isEmpty: Bool { sums.isEmpty }
    package var total: Int { sums.reduce(0) { $0 + $1.cost } }

    package subscript(key: Int) -> Int { sums.first { $0.key == key }?.cost ?? 0 }

    package mutating func add(_ cost: Int, for key: Int) {
        if cost == 0 { return }
        if let last = sums.indices.last, sums[last].key == key {
            sums[last].cost += cost
        } else if let index = sums.firstIndex(where: { $0.key == key }) {
            sums[index].cost += cost
        } else {
            sums.append(Sum(key: key, cost: cost))
        }
    }

    package mutating func add(_ other: CostTotals) {
        for sum in other.sums { add(sum.cost, for: sum.key) }
    }

    /// From this key on, keys are for events without credit: their consumption is reported at once.
    package static let firstEventKey = 1 << 40

    var hasEvents: Bool { sums.contains { $0.key >= CostTotals.firstEventKey } }

    package mutating func removeAll() { sums.removeAll(keepingCapacity: true) }
}
