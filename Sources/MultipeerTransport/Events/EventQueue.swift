/// Events on their way from a loop to the user, in order, in batches: one lock and at most one resume for each.
///
/// Nothing is dropped and nothing blocks. What bounds the memory is credit: every element has a cost under a key (its
/// peer), and what was consumed is reported, so that the loop can grant as much again.
///
/// ```
///   push ──▶ backlog ──the first reader begins──▶ its queue
///     └───────while somebody reads──────────────▶ the queue of each
/// ```
///
/// An iterator becomes a reader with its first wait. Each reader gets every element from then on, and the cost of what
/// several get is reported when the last of them is done with it, so the slowest holds the senders back. What came while
/// nobody read waits for the first reader, and the last one that goes puts back what it has not handed out: to break off
/// a loop and start another loses nothing.
package final class EventQueue<Element: Sendable>: Sendable {
    /// Elements that are pushed together, and what they cost.
    package struct Batch: Sendable {
        package internal(set) var elements: [Element] = []
        package internal(set) var costs = CostTotals()
        /// Each with the number of elements before it. Only `nextRun` hands them out.
        package internal(set) var markers: [(index: Int, marker: EventMarker)] = []
        /// Holds the costs instead while several readers have the batch.
        var share: SharedCosts?

        package init() {}

        package var isEmpty: Bool { elements.isEmpty && markers.isEmpty }

        package mutating func append(_ element: consuming Element, key: Int = 0, cost: Int = 0) {
            elements.append(element)
            costs.add(cost, for: key)
        }

        package mutating func append(_ marker: EventMarker) { markers.append((elements.count, marker)) }
    }

    /// The costs of a batch that several readers have: they are reported when the last of them is done with it.
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

    /// What was consumed is reported on the consumer's thread, once it has cost `reportAfter`.
    package init(reportAfter: Int = 0, onConsumed: @escaping @Sendable (CostTotals) -> Void = { _ in }) {
        self.reportAfter = reportAfter
        self.onConsumed = onConsumed
    }

    /// Takes the whole batch and leaves it empty. After `finish`, elements go nowhere.
    package func push(_ batch: inout Batch) {
        if batch.isEmpty { return }
        let pushed = batch
        batch = Batch()
        mailbox.post { $0.push(pushed, onConsumed) }
    }

    /// Whether somebody reads.
    package var isRead: Bool { mailbox.withLock { $0.isRead } }

    /// Ends the iterators that there are, after what was pushed. Those that are made from here on go on.
    package func endIterators() { mailbox.post { $0.endIterators() } }

    /// Ends all iterators after what was pushed, those to come among them.
    package func finish() { mailbox.post { $0.finish() } }
}
