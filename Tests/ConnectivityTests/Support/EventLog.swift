import MultipeerTransport

/// The timeout of a wait in a test.
struct NotHeard: Error, CustomStringConvertible {
    var description = "overdue"
}

/// A log of events, in order, for a test that waits for one of them. Nothing polls.
final class EventLog<Event: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isSo: @Sendable ([Event]) -> Bool
        let signal: Promise<Bool>
    }

    private struct State: Sendable {
        var events: [Event] = []
        var waiters: [Waiter] = []
    }

    private let state = Locked(State())

    var all: [Event] { state.withLock { $0.events } }

    func note(_ event: Event) {
        let due = state.withLock { state in
            state.events.append(event)
            let events = state.events
            let due = state.waiters.filter { $0.isSo(events) }
            if !due.isEmpty {
                state.waiters.removeAll { waiter in due.contains { $0.signal === waiter.signal } }
            }
            return due
        }
        for waiter in due { waiter.signal.send(true) }
    }

    /// Removes what was noted until now.
    func clear() { state.withLock { $0.events = [] } }

    /// Waits until this holds for everything noted so far; throws, with what was noted, after a time that is long even on
    /// a busy machine.
    @discardableResult
    func until(
        within timeLimit: Duration = .seconds(30), _ isSo: @escaping @Sendable ([Event]) -> Bool
    ) async throws -> [Event] {
        let signal = Promise<Bool>()
        let isDone = state.withLock { state in
            if isSo(state.events) { return true }
            state.waiters.append(Waiter(isSo: isSo, signal: signal))
            return false
        }
        if isDone { return all }
        let timer = Task {
            try? await Task.sleep(for: timeLimit)
            signal.send(false)
        }
        defer { timer.cancel() }
        guard await signal.value() else { throw NotHeard(description: "overdue; there was \(all)") }
        return all
    }
}
