/// A number of permits, and a queue of tasks that wait for one, in order, until it is closed.
///
/// At most `waitersAtMost` wait at once, so that what they hold is bounded.
package final class AsyncSemaphore<Closure: Error>: Sendable {
    /// Why there is no permit.
    package enum Refusal: Error {
        case closed(Closure)
        case tooManyWait(Int)
        case cancelled
    }

    package enum Reply: Sendable {
        case acquired
        case waits(Turn)
        case refused(Refusal)
    }

    /// A place in the queue, to be given to `wait`.
    package struct Turn: Sendable {
        fileprivate let ticket: UInt64
        /// Settled with nil when the permit is available, or with the reason why there will be none.
        let outcome: Promise<Refusal?>
    }

    private struct State {
        var permits: Int
        /// By ticket; those between `served` and `tickets` that are missing were cancelled.
        var waiting: [UInt64: Promise<Refusal?>] = [:]
        var served: UInt64 = 0
        var tickets: UInt64 = 0
        var closure: Closure?

        mutating func removeFirst() -> Promise<Refusal?>? {
            while served < tickets {
                defer { served += 1 }
                if let first = waiting.removeValue(forKey: served) { return first }
            }
            return nil
        }
    }

    private let waitersAtMost: Int
    private let state: Locked<State>

    package init(_ permits: Int, waitersAtMost: Int = .max) {
        self.waitersAtMost = waitersAtMost
        state = Locked(State(permits: permits))
    }

    /// Requests a permit without waiting. There is none while other tasks wait: no task overtakes another.
    package func request() -> Reply {
        state.withLock { state in
            if let closure = state.closure { return .refused(.closed(closure)) }
            if state.permits > 0 {
                state.permits -= 1
                return .acquired
            }
            guard state.waiting.count < waitersAtMost else {
                return .refused(.tooManyWait(state.waiting.count))
            }
            let turn = Turn(ticket: state.tickets, outcome: Promise())
            state.waiting[state.tickets] = turn.outcome
            state.tickets += 1
            return .waits(turn)
        }
    }

    /// Requests a permit and waits for it; throws why there is none, or that the task is cancelled.
    package func acquire() async throws(Refusal) {
        switch request() {
        case .acquired: return
        case .waits(let turn): try await wait(for: turn)
        case .refused(let refusal): throw refusal
        }
    }

    /// Waits for the requested permit; throws why there is none, or that the task is cancelled.
    package func wait(for turn: Turn) async throws(Refusal) {
        let refusal = await turn.outcome.value(onCancel: { turn.outcome.send(.cancelled) })
        guard let refusal else { return }
        state.withLock { state in _ = state.waiting.removeValue(forKey: turn.ticket) }
        throw refusal
    }

    /// Returns a permit, which goes to the task that has waited longest.
    package func release() {
        while true {
            let next = state.withLock { state -> Promise<Refusal?>? in
                if let next = state.removeFirst() { return next }
                state.permits += 1
                return nil
            }
            guard let next else { return }
            if next.send(nil) { return }
        }
    }

    /// Refuses all requests, including those that wait. The first closure stays.
    package func close(_ closure: Closure) {
        let waiting = state.withLock { state in
            if state.closure == nil { state.closure = closure }
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for turn in waiting { turn.send(.closed(closure)) }
    }

    /// The value with which it was closed; nil while it is open.
    package var closure: Closure? { state.withLock { $0.closure } }
}
