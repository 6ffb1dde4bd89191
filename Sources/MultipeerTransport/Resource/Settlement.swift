/// A value that is decided once, and that any number of tasks may wait for.
final class Settlement<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [Promise<Value?>] = []
    }

    private let state = Locked(State())

    /// Nil as long as it is open.
    var value: Value? { state.withLock { $0.value } }

    /// Answers whether this decided it; what comes later is dropped.
    @discardableResult
    func settle(_ value: Value) -> Bool {
        let waiting = state.withLock { state -> [Promise<Value?>]? in
            if state.value != nil { return nil }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        guard let waiting else { return false }
        for signal in waiting { signal.send(value) }
        return true
    }

    /// Waits for the value; nil when the task is cancelled first.
    func wait() async -> Value? {
        let signal = Promise<Value?>()
        let settled = state.withLock { state -> Value? in
            if state.value == nil { state.waiting.append(signal) }
            return state.value
        }
        if let settled { return settled }
        let value = await signal.value(onCancel: { signal.send(nil) })
        if value == nil { state.withLock { state in state.waiting.removeAll { $0 === signal } } }
        return value
    }
}
