/// Events on their way from a loop to the user, in order, in batches: one lock and at most one resume for each.
///
/// Nothing is dropped and nothing blocks. Credit bounds the memory: every element has a cost under a key (its peer), and
/// consumption is reported, so that the loop can grant the same amount again.
///
/// ```
///   push ──▶ backlog ──the first reader begins──▶ its queue
///     └───────while there is a reader───────────▶ the queue of each
/// ```
///
/// An iterator becomes a reader with its first wait. Each reader receives every element from then on, and the cost of elements
/// that several receive is reported when the last of them has consumed them, so the slowest holds the senders back. Elements
/// pushed while there was no reader wait for the first one, and the last reader that goes puts back what it has not returned:
/// ending one loop and starting another loses nothing.
package final class EventQueue<Element: Sendable>: Sendable {
    /// Elements that are pushed together, and what they cost.
    package struct Batch: Sendable {
        package internal(set) var elements: [Element] = []
        package internal(set) var costs = CostTotals()
        /// Each with the number of elements before it. Only `nextRun` returns them.
        package internal(set) var markers: [(index: Int, marker: EventMarker)] = []
        /// Holds the costs instead while several readers have the batch.
        var share: SharedCosts?
        /// Whether `withdraw` removes the batch while no reader has it.
        var isWithdrawable = false

        package init() {}

        package var isEmpty: Bool { elements.isEmpty && markers.isEmpty }

        package mutating func append(_ element: consuming Element, key: Int = 0, cost: Int = 0) {
            elements.append(element)
            costs.add(cost, for: key)
        }

        package mutating func append(_ marker: EventMarker) { markers.append((elements.count, marker)) }
    }

    /// The costs of a batch that several readers have: reported when the last of them has consumed it.
    final class SharedCosts: Sendable {
        private let costs: CostTotals
        private let onConsumed: @Sendable (CostTotals) -> Void

        init(_ costs: CostTotals, _ onConsumed: @escaping @Sendable (CostTotals) -> Void) {
            (self.costs, self.onConsumed) = (costs, onConsumed)
        }

        deinit { onConsumed(costs) }
    }

    let mailbox = Mailbox(ReaderQueues())
    let reportAfter: Int
    let onConsumed: @Sendable (CostTotals) -> Void

    /// Creates an empty queue. Consumption is reported on the consumer's thread, once it has cost `reportAfter`.
    package init(reportAfter: Int = 0, onConsumed: @escaping @Sendable (CostTotals) -> Void = { _ in }) {
        self.reportAfter = reportAfter
        self.onConsumed = onConsumed
    }

    /// Takes the whole batch and leaves it empty. After `finish`, elements are dropped.
    package func push(_ batch: inout Batch) {
        if batch.isEmpty { return }
        mailbox.post { $0.push(&batch, onConsumed) }
    }

    /// Pushes one element alone, which `withdraw` takes back if no reader has received it by then.
    package func push(withdrawable element: consuming Element, key: Int, cost: Int) {
        var batch = Batch()
        batch.append(element, key: key, cost: cost)
        batch.isWithdrawable = true
        push(&batch)
    }

    /// Removes the withdrawable elements under `key` that wait for a first reader, and returns them in order. Their cost is not
    /// reported.
    package func withdraw(_ key: Int) -> [Element] {
        mailbox.withLock { $0.withdraw(key) }.flatMap(\.elements)
    }

    /// Whether there is a reader.
    package var isRead: Bool { mailbox.withLock { $0.isRead } }

    /// Ends the present iterators, after what was pushed. Those created from here on continue.
    package func endIterators() { mailbox.post { $0.endIterators() } }

    /// Ends all iterators after what was pushed, including future ones.
    package func finish() { mailbox.post { $0.finish() } }
}
