import MultipeerTransport

/// Lets one call in at a time; those that wait are let in in their order.
package final class Gate: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [Promise<Void>] = []
    }

    private let state = Locked(State())

    package init() {}

    package func enter() async {
        let turn = state.withLock { state -> Promise<Void>? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let turn = Promise<Void>()
            state.waiting.append(turn)
            return turn
        }
        await turn?.value()
    }

    package func leave() {
        let next = state.withLock { state -> Promise<Void>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.send(())
    }
}
