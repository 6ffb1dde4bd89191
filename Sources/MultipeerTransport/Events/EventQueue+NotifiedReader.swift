extension EventQueue {
    /// A reader that no task waits for: it returns what there is, or its closure is called once there is more.
    ///
    /// For a consumer on a queue of another kind: from a task on the loop, such a consumer is one change of threads away, and its
    /// return another. One thread at a time may use it. Like an iterator, it puts back what it has not returned.
    package final class NotifiedReader: Sendable {
        package enum Taken: Sendable {
            /// In order, with the markers between the elements.
            case batch(Batch)
            /// There is nothing: the closure will be called.
            case nothing
            /// The sequence has ended for this reader.
            case end
        }

        private struct State {
            /// The last is the next.
            var batches: [Batch] = []
            /// The costs of the batch that was returned last.
            var costs = CostTotals()
            var share: SharedCosts?
            var consumed = CostTotals()

            mutating func popBatch() -> Batch? {
                guard let batch = batches.popLast() else { return nil }
                (costs, share) = (batch.costs, batch.share)
                return batch
            }
        }

        private let eventQueue: EventQueue
        private let id: UInt64
        private let notification: Mailbox<ReaderQueues>.Notification
        private let state = Locked(State())

        /// Creates a reader, which receives everything from its first `next` on. `notify` is called on the thread that pushes.
        package init(_ eventQueue: EventQueue, notify: @escaping @Sendable () -> Void) {
            self.eventQueue = eventQueue
            id = eventQueue.mailbox.withLock { $0.makeReader() }
            notification = Mailbox<ReaderQueues>.Notification(notify)
        }

        deinit {
            let (rest, consumed) = state.withLock { state in
                var rest = state.batches
                // What was returned last may not have been handled: its costs are reported all the same.
                state.consumed.add(state.costs)
                rest.reverse()
                return (rest, state.consumed)
            }
            let unread = eventQueue.mailbox.withLock { [id] in $0.remove(id, leaving: rest) }
            var total = consumed
            for batch in unread { total.add(batch.costs) }
            if !total.isEmpty { eventQueue.onConsumed(total) }
        }

        /// Returns the next batch; the one before it counts as consumed.
        package func next() -> Taken {
            settle()
            if let batch = state.withLock({ $0.popBatch() }) { return .batch(batch) }
            let taken = eventQueue.mailbox.next({ [id] in $0.take(id) }, otherwise: notification)
            switch taken {
            case nil: return .nothing
            case .end: return .end
            case .batch(let batch): return first(of: [batch])
            case .batches(let batches): return first(of: batches)
            }
        }

        private func first(of batches: [Batch]) -> Taken {
            let first = state.withLock { state in
                state.batches = batches
                return state.popBatch()
            }
            return first.map { .batch($0) } ?? .nothing
        }

        private func settle() {
            let (consumed, share) = state.withLock { state -> (CostTotals?, SharedCosts?) in
                let share = state.share.take()
                state.consumed.add(state.costs)
                state.costs.removeAll()
                let consumed = state.consumed
                if consumed.isEmpty || consumed.total < eventQueue.reportAfter && !consumed.hasEvents {
                    return (nil, share)
                }
                state.consumed.removeAll()
                return (consumed, share)
            }
            // Its release reports costs that were shared.
            withExtendedLifetime(share) {}
            if let consumed { eventQueue.onConsumed(consumed) }
        }
    }
}
