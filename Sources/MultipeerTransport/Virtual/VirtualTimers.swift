import MultipeerCore

/// The planned events, ordered by their moments; of one moment, in the order in which they were planned. A binary heap.
struct VirtualTimers: Sendable {
    private struct Timer: Sendable {
        let moment: Moment
        let order: UInt64
        let step: VirtualScheduler.Step

        func isBefore(_ other: Timer) -> Bool { (moment, order) < (other.moment, other.order) }
    }

    private var timers: [Timer] = []
    private var added: UInt64 = 0

    mutating func add(_ step: VirtualScheduler.Step, at moment: Moment) {
        added += 1
        timers.append(Timer(moment: moment, order: added, step: step))
        var index = timers.count - 1
        while index > 0, timers[index].isBefore(timers[(index - 1) / 2]) {
            timers.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    var steps: [VirtualScheduler.Step] { timers.map(\.step) }

    mutating func popFirst() -> (Moment, VirtualScheduler.Step)? {
        guard let first = timers.first else { return nil }
        timers.swapAt(0, timers.count - 1)
        timers.removeLast()
        sink()
        return (first.moment, first.step)
    }

    private mutating func sink() {
        var index = 0
        while true {
            let children = (2 * index + 1..<2 * index + 3).filter { $0 < timers.count }
            guard let least = children.min(by: { timers[$0].isBefore(timers[$1]) }),
                timers[least].isBefore(timers[index])
            else { return }
            timers.swapAt(index, least)
            index = least
        }
    }
}
