import MultipeerTransport

/// Falls once, for all who wait for it.
final class Curtain: Sendable {
    private struct State {
        var hasFallen = false
        var waiting: [Promise<Void>] = []
    }

    private let state = Locked(State())

    var hasFallen: Bool { state.withLock { $0.hasFallen } }

    func fall() {
        let waiting = state.withLock { state in
            defer { state = State(hasFallen: true) }
            return state.waiting
        }
        for signal in waiting { signal.send(()) }
    }

    /// Returns when it has fallen, or the task is cancelled.
    func fallen() async {
        let signal = Promise<Void>()
        let hasFallen = state.withLock { state in
            if !state.hasFallen { state.waiting.append(signal) }
            return state.hasFallen
        }
        if hasFallen { return }
        await signal.value(onCancel: { signal.send(()) })
        state.withLock { $0.waiting.removeAll { $0 === signal } }
    }
}
