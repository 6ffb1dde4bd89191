package import MultipeerCore

/// Counts the completed bytes of a transfer, and notifies its watchers.
package final class ProgressMeter: Sendable {
    private struct State {
        let total: UInt64?
        var began: Moment
        var completed: UInt64 = 0
        var rate: TransferRate
        /// Set once, with whether the transfer has succeeded and when it was over.
        var end: (hasSucceeded: Bool, at: Moment)?
        var watchers: [Promise<Void>] = []

        func elapsed(at now: Moment) -> Duration { (end?.at ?? now) - began }

        mutating func note(_ count: UInt64, at now: Moment) {
            if end != nil { return }
            completed = max(completed, count)
            rate.note(completed, at: elapsed(at: now))
        }
    }

    private let state: Locked<State>
    private let now: @Sendable () -> Moment

    package init(total: UInt64?, now: @escaping @Sendable () -> Moment = { EventLoop.currentMoment() }) {
        let began = now()
        state = Locked(State(total: total, began: began, rate: TransferRate(at: .zero)))
        self.now = now
    }

    /// Begins the transfer now, and not when it was announced.
    package func begin() {
        let now = now()
        state.withLock { $0.began = now }
    }

    /// Goes on after bytes that were transferred before: they are completed, and do not count for the rate.
    package func goOn(after completed: UInt64) {
        let now = now()
        state.withLock { state in
            state.completed = max(state.completed, completed)
            state.rate = TransferRate(at: state.elapsed(at: now), count: completed)
        }
    }

    /// Notes the total of completed bytes.
    package func note(_ completed: UInt64) {
        let now = now()
        let watchers = state.withLock { state in
            state.note(completed, at: now)
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.send(()) }
    }

    /// Ends the transfer; the first call counts.
    package func end(hasSucceeded: Bool) {
        let now = now()
        let watchers = state.withLock { state in
            if state.end == nil { state.end = (hasSucceeded, now) }
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.send(()) }
    }

    /// Returns the progress, and whether it is final.
    package func reading() -> (progress: TransferProgress, isFinal: Bool) {
        let now = now()
        return state.withLock { state in
            state.note(state.completed, at: now)
            let progress = TransferProgress(
                completed: state.completed, total: state.total,
                hasSucceeded: state.end?.hasSucceeded ?? false, rate: state.rate.value,
                elapsed: state.elapsed(at: now))
            return (progress, state.end != nil)
        }
    }

    /// Waits until more than `completed` is done, the transfer is over, or the given time has passed.
    func change(from completed: UInt64, within timeLimit: Duration) async {
        let signal = Promise<Void>()
        let waits = state.withLock { state in
            if state.end != nil || state.completed > completed { return false }
            state.watchers.append(signal)
            return true
        }
        if !waits { return }
        let timer = Task.following {
            try? await Pause.sleep(for: timeLimit)
            signal.send(())
        }
        await signal.value(onCancel: { signal.send(()) })
        timer.cancel()
        state.withLock { state in state.watchers.removeAll { $0 === signal } }
    }
}
