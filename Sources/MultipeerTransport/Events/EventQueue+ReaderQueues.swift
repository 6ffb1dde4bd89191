extension EventQueue {
    /// What was pushed and not taken, for each reader or for the next one to begin.
    struct ReaderQueues: Sendable {
        /// An iterator, from its creation on.
        struct Reader: Sendable {
            let id: UInt64
            var batches: [Batch] = []
            /// Whether it has waited, and so receives what is pushed.
            var hasBegun = false
            /// Whether its sequence ends after its batches.
            var isEnded = false

            var takesPart: Bool { hasBegun && !isEnded }
        }

        enum Taken: Sendable {
            /// The only one.
            case batch(Batch)
            /// In reverse order.
            case batches([Batch])
            case end
        }

        /// For the first reader. Empty while there is one.
        private var backlog: [Batch] = []
        private var readers: [Reader] = []
        private var lastID: UInt64 = 0
        private var isFinished = false
    }
}

extension EventQueue.ReaderQueues {
    typealias Batch = EventQueue.Batch

    /// Whether a reader receives what is pushed.
    var isRead: Bool { readers.contains(where: \.takesPart) }

    /// Takes the whole batch and leaves it empty. Returns whether a reader receives it.
    mutating func push(
        _ pushed: inout Batch, _ onConsumed: @escaping @Sendable (CostTotals) -> Void
    ) -> Bool {
        var batch = Batch()
        swap(&batch, &pushed)
        if isFinished { return false }
        // The usual case first.
        if readers.count == 1, readers[0].takesPart {
            readers[0].batches.append(batch)
            return true
        }
        let indices = readers.indices.filter { readers[$0].takesPart }
        if indices.isEmpty {
            backlog.append(batch)
            return false
        }
        if indices.count > 1, !batch.costs.isEmpty {
            batch.share = EventQueue.SharedCosts(batch.costs, onConsumed)
            batch.costs = CostTotals()
        }
        for index in indices { readers[index].batches.append(batch) }
        return true
    }

    /// Removes what can be withdrawn of `key` from the backlog.
    mutating func withdraw(_ key: Int) -> [Batch] {
        var withdrawn: [Batch] = []
        backlog.removeAll { batch in
            guard batch.isWithdrawable, batch.costs[key] > 0 else { return false }
            withdrawn.append(batch)
            return true
        }
        return withdrawn
    }

    mutating func makeReader() -> UInt64 {
        lastID += 1
        readers.append(Reader(id: lastID))
        return lastID
    }

    /// Lets the reader receive every element from now on, before its first wait.
    mutating func begin(reader id: UInt64) {
        if let index = readers.firstIndex(where: { $0.id == id }) { begin(index) }
    }

    /// Returns what the reader gets next; nil when it has to wait.
    mutating func take(_ id: UInt64) -> Taken? {
        guard let index = readers.firstIndex(where: { $0.id == id }) else { return .end }
        begin(index)
        if readers[index].batches.count == 1 { return .batch(readers[index].batches.removeLast()) }
        if !readers[index].batches.isEmpty {
            var batches: [Batch] = []
            swap(&batches, &readers[index].batches)
            batches.reverse()
            return .batches(batches)
        }
        return readers[index].isEnded || isFinished ? .end : nil
    }

    /// Begins a reader at its first wait: it gets the backlog if there is no other.
    private mutating func begin(_ index: Int) {
        if readers[index].hasBegun || readers[index].isEnded { return }
        readers[index].hasBegun = true
        swap(&readers[index].batches, &backlog)
    }

    mutating func endIterators() {
        // Unread elements go to the first of those that are about to read.
        if !isRead, let first = readers.firstIndex(where: { !$0.isEnded }) { begin(first) }
        for index in readers.indices { readers[index].isEnded = true }
    }

    mutating func finish() { isFinished = true }

    /// Removes an iterator, with `rest` not returned. Returns what no reader will get, to be released outside the lock.
    mutating func remove(_ id: UInt64, leaving rest: [Batch]) -> [Batch] {
        guard let index = readers.firstIndex(where: { $0.id == id }) else { return rest }
        let left = rest + readers.remove(at: index).batches
        if isRead { return left }
        backlog = left + backlog
        return []
    }
}
