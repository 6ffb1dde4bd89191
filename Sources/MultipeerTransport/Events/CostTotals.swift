/// Sums of costs, one for each key: how much of each peer's credit a batch of events used.
package struct CostTotals: Hashable, Sendable {
    package struct Sum: Hashable, Sendable {
        package let key: Int
        package fileprivate(set) var cost: Int
    }

    /// In the order in which the keys appeared; there are as many as peers, a handful. Usually one, which needs no array.
    private var first: Sum?
    private var others: [Sum] = []

    package init() {}

    package var isEmpty: Bool { first == nil }
    package var total: Int { others.reduce(first?.cost ?? 0) { $0 + $1.cost } }

    package subscript(key: Int) -> Int {
        if let first, first.key == key { return first.cost }
        return others.first { $0.key == key }?.cost ?? 0
    }

    package mutating func add(_ cost: Int, for key: Int) {
        if cost == 0 { return }
        let sum = Sum(key: key, cost: cost)
        guard let first else { return self.first = sum }
        if first.key == key {
            self.first = Sum(key: key, cost: first.cost + cost)
        } else if let last = others.indices.last, others[last].key == key {
            others[last].cost += cost
        } else if let index = others.firstIndex(where: { $0.key == key }) {
            others[index].cost += cost
        } else {
            others.append(sum)
        }
    }

    package mutating func add(_ other: CostTotals) { other.forEach { add($0.cost, for: $0.key) } }

    /// Calls `body` with each sum, in the order in which the keys appeared.
    package func forEach(_ body: (Sum) -> Void) {
        if let first { body(first) }
        for sum in others { body(sum) }
    }

    /// From this key on, keys are for events without credit: their consumption is reported at once.
    package static let firstEventKey = 1 << 40

    var hasEvents: Bool {
        first.map { $0.key >= CostTotals.firstEventKey } == true
            || others.contains { $0.key >= CostTotals.firstEventKey }
    }

    package mutating func removeAll() {
        first = nil
        if !others.isEmpty { others.removeAll(keepingCapacity: true) }
    }
}
