/// Events on their way from a loop to the user, in order, in batches: one lock and at most one resume for each.
///
/// Nothing is dropped and nothing blocks. What bounds the memory is credit: every element has a cost under a key (its
/// peer), and what the consumer is done with is reported, so that the loop can grant as much again. It is one
/// sequence for one consumer: of two tasks that wait at once, the second is a programming error. An iterator that is
/// let go of gives back what it has not handed out, so breaking off a loop and starting another loses nothing.
package final class Inbox<Element: Sendable>: Sendable {
    /// Elements that are pushed together, and what they cost.
    package struct Batch: Sendable {
        package fileprivate(set) var elements: [Element] = []
        package fileprivate(set) var costs = Tally()

        package init() {}

        package var isEmpty: Bool { elements.isEmpty }
        package var count: Int { elements.count }

        package mutating func append(_ element: consuming Element, key: Int = 0, cost: Int = 0) {
            elements.append(element)
            costs.add(cost, for: key)
        }
    }

    private struct State {
        var batches: [Batch] = []
        var pushed = 0
        var waiter: Promise<Void>?
        var isFinished = false
        /// What `takeAll` gave out last.
        var taken = Tally()
    }

    private enum Taken {
        case batches
        case nothing(Promise<Void>)
        case finished
    }

    private let state = Locked(State())
    private let reportAfter: Int
    private let onConsumed: @Sendable (Tally) -> Void

    /// What was consumed is reported on the consumer's thread, once it has cost `reportAfter`.
    package init(reportAfter: Int = 0, onConsumed: @escaping @Sendable (Tally) -> Void = { _ in }) {
        self.reportAfter = reportAfter
        self.onConsumed = onConsumed
    }

    /// Takes the whole batch and leaves it empty. After `finish`, elements go nowhere.
    package func push(_ batch: inout Batch) {
        if batch.isEmpty { return }
        let pushed = batch
        batch = Batch()
        let waiter = state.withLock { state -> Promise<Void>? in
            if state.isFinished { return nil }
            state.batches.append(pushed)
            state.pushed += pushed.count
            return state.waiter.take()
        }
        waiter?.send(())
    }

    /// How many elements there have been since the beginning.
    package var pushed: Int { state.withLock { $0.pushed } }

    /// Ends the sequence behind what was pushed.
    package func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            return state.waiter.take()
        }
        waiter?.send(())
    }

    /// Everything there is, for a consumer that does not wait. The next call reports it as consumed: call until
    /// there is nothing.
    package func takeAll() -> [Element] {
        let (batches, consumed) = state.withLock { state in
            let (batches, consumed) = (state.batches, state.taken)
            state.batches = []
            state.taken = Tally()
            for batch in batches { state.taken.add(batch.costs) }
            return (batches, consumed)
        }
        if !consumed.isEmpty { onConsumed(consumed) }
        return batches.count == 1 ? batches[0].elements : batches.flatMap(\.elements)
    }
}

extension Inbox: AsyncSequence {
    package func makeAsyncIterator() -> Iterator { Iterator(hand: Hand(self)) }

    /// Hands out elements without locking until it needs another batch. Cancellation ends the wait, not the inbox:
    /// what is there already is handed out first. Handing out costs 35 ns where the compiler knows the element, in this
    /// module, and 150 ns where it does not, in another.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let hand: Hand

        package mutating func next() async -> Element? {
            if let element = hand.elements.popLast() { return element }
            return await hand.refill() ? hand.elements.popLast() : nil
        }

        package mutating func next(isolation: isolated (any Actor)?) async -> Element? {
            if let element = hand.elements.popLast() { return element }
            return await hand.refill() ? hand.elements.popLast() : nil
        }

        /// The rest of the batch, or all of the next one.
        package mutating func nextBatch() async -> [Element]? {
            if !hand.elements.isEmpty {
                defer { hand.elements = [] }
                return hand.elements.reversed()
            }
            guard await hand.refill(inOrder: true) else { return nil }
            var batch: [Element] = []
            swap(&batch, &hand.elements)
            return batch
        }
    }

    /// What an iterator has taken and not handed out.
    fileprivate final class Hand {
        private let inbox: Inbox
        /// The last is the next, so that handing out is a move.
        fileprivate var elements: [Element] = []
        private var costs = Tally()
        private var batches: [Batch] = []
        private var consumed = Tally()

        init(_ inbox: Inbox) { self.inbox = inbox }

        deinit {
            if !consumed.isEmpty { inbox.onConsumed(consumed) }
            if !elements.isEmpty || !costs.isEmpty {
                var batch = Batch()
                batch.elements = elements.reversed()
                batch.costs = costs
                batches.append(batch)
            }
            inbox.putBack(batches)
        }

        /// Answers false at the end. `inOrder`: the caller takes all of it, the first first. A batch that an earlier iterator handed out whole has costs and no elements left:
        /// it is settled like any other, and the next one is taken.
        func refill(inOrder: Bool = false) async -> Bool {
            repeat {
                settle()
                while batches.isEmpty {
                    switch inbox.take(&batches) {
                    case .batches: break
                    case .finished: return false
                    case .nothing(let signal):
                        await signal.value(onCancel: { signal.send(()) })
                        if inbox.abandon(signal) { return false }
                    }
                }
                guard let batch = batches.popLast() else { return false }
                (elements, costs) = (batch.elements, batch.costs)
            } while elements.isEmpty
            if !inOrder { elements.reverse() }
            return true
        }

        private func settle() {
            consumed.add(costs)
            costs.removeAll()
            if consumed.isEmpty || consumed.total < inbox.reportAfter { return }
            inbox.onConsumed(consumed)
            consumed.removeAll()
        }
    }

    /// Takes all batches, the last first.
    private func take(_ batches: inout [Batch]) -> Taken {
        let (taken, answer) = state.withLock { state -> ([Batch], Taken) in
            if !state.batches.isEmpty {
                let taken = state.batches
                state.batches = []
                return (taken, .batches)
            }
            if state.isFinished { return ([], .finished) }
            precondition(state.waiter == nil, "two tasks wait for the same events")
            let signal = Promise<Void>()
            state.waiter = signal
            return ([], .nothing(signal))
        }
        batches = taken.reversed()
        return answer
    }

    /// Answers whether the wait was cancelled: then the signal is still the inbox's.
    private func abandon(_ signal: Promise<Void>) -> Bool {
        state.withLock { state in
            if state.waiter !== signal { return false }
            state.waiter = nil
            return true
        }
    }

    private func putBack(_ batches: [Batch]) {
        if batches.isEmpty { return }
        let waiter = state.withLock { state in
            state.batches = batches.reversed() + state.batches
            return state.waiter.take()
        }
        waiter?.send(())
    }
}
