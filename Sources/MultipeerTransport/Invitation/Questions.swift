/// The questions of one listener that nobody has taken yet, in their order: an asynchronous sequence for one consumer.
///
/// A question that is over before it was taken goes away, so there are never more here than may be pending at once.
package final class Questions: Sendable {
    private struct State {
        var waiting: [Question] = []
        var waiter: Promise<Void>?
        var isFinished = false
    }

    private let state = Locked(State())

    func push(_ question: Question) {
        let waiter = state.withLock { state -> Promise<Void>? in
            if state.isFinished { return nil }
            state.waiting.append(question)
            return state.waiter.take()
        }
        waiter?.send(())
    }

    func remove(_ id: Question.ID) { state.withLock { $0.waiting.removeAll { $0.id == id } } }

    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            state.waiting = []
            return state.waiter.take()
        }
        waiter?.send(())
    }

    /// How many were not taken yet.
    package var count: Int { state.withLock { $0.waiting.count } }
}

extension Questions: AsyncSequence {
    package typealias Element = Question

    package func makeAsyncIterator() -> Iterator { Iterator(questions: self) }

    /// Waits for the next question. Cancellation ends the wait, not the sequence.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let questions: Questions

        package mutating func next() async -> Question? { await questions.next() }

        package mutating func next(isolation: isolated (any Actor)?) async -> Question? {
            await questions.next()
        }
    }

    private enum Taken {
        case question(Question)
        case nothing(Promise<Void>)
        case finished
    }

    private func next() async -> Question? {
        while true {
            switch take() {
            case .question(let question): return question
            case .finished: return nil
            case .nothing(let signal):
                await signal.value(onCancel: { signal.send(()) })
                if abandon(signal) { return nil }
            }
        }
    }

    private func take() -> Taken {
        state.withLock { state in
            if !state.waiting.isEmpty { return .question(state.waiting.removeFirst()) }
            if state.isFinished { return .finished }
            precondition(state.waiter == nil, "two tasks wait for the same questions")
            let signal = Promise<Void>()
            state.waiter = signal
            return .nothing(signal)
        }
    }

    /// Answers whether the wait was cancelled: then the signal is still in its place.
    private func abandon(_ signal: Promise<Void>) -> Bool {
        state.withLock { state in
            if state.waiter !== signal { return false }
            state.waiter = nil
            return true
        }
    }
}
