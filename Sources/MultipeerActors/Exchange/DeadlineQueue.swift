import MultipeerCore

/// Deadlines with their identifiers, the earliest first. An entry that is no longer needed stays until its time, or
/// until there are many of them.
struct DeadlineQueue<ID: Sendable>: Sendable {
    private var heap: [(moment: Moment, id: ID)] = []

    var earliest: Moment? { heap.first?.moment }
    var count: Int { heap.count }

    mutating func insert(_ id: ID, at moment: Moment) {
        heap.append((moment, id))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].moment <= heap[child].moment { return }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    /// Removes and returns the first entry whose deadline has passed.
    mutating func next(until now: Moment) -> ID? {
        guard let first = heap.first, first.moment <= now else { return nil }
        removeFirst()
        return first.id
    }

    /// Drops entries that are no longer needed.
    mutating func keep(where isWanted: (ID) -> Bool) {
        let wanted = heap.filter { isWanted($0.id) }
        heap = []
        for entry in wanted { insert(entry.id, at: entry.moment) }
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        if heap.isEmpty { return }
        heap[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            if child >= heap.count { return }
            if child + 1 < heap.count, heap[child + 1].moment < heap[child].moment { child += 1 }
            if heap[parent].moment <= heap[child].moment { return }
            heap.swapAt(parent, child)
            parent = child
        }
    }
}
