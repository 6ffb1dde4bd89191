import MultipeerTransport

/// Where the invitations of an advertiser come in: the listener behind it is another one after each start.
final class Door: Sendable {
    private enum State {
        case closed(waiter: Promise<Void>?)
        case open(InvitationListener)
        case over
    }

    private let state = Locked(State.closed(waiter: nil))

    func open(_ listener: InvitationListener) { change(to: .open(listener)) }
    func close() { change(to: .closed(waiter: nil)) }
    /// Nobody will open it any more.
    func end() { change(to: .over) }

    private func change(to new: State) {
        let waiter = state.withLock { state -> Promise<Void>? in
            var waiter: Promise<Void>?
            if case .closed(let waiting) = state { waiter = waiting }
            if case .over = state { return nil }
            state = new
            return waiter
        }
        waiter?.send(())
    }

    /// Whether invitations to this listener still count.
    func isOpen(to listener: InvitationListener) -> Bool {
        state.withLock { state in
            if case .open(listener) = state { true } else { false }
        }
    }

    /// The listener behind it, once there is one; nil at the end, or when the task is cancelled.
    func listener() async -> InvitationListener? {
        while true {
            let (listener, signal) = look()
            if let listener { return listener }
            guard let signal else { return nil }
            await signal.value(onCancel: { signal.send(()) })
            if abandon(signal) || Task.isCancelled { return nil }
        }
    }

    private func look() -> (InvitationListener?, Promise<Void>?) {
        state.withLock { state in
            switch state {
            case .open(let listener): return (listener, nil)
            case .over: return (nil, nil)
            case .closed(let waiter):
                precondition(waiter == nil, "two tasks wait for the same invitations")
                let signal = Promise<Void>()
                state = .closed(waiter: signal)
                return (nil, signal)
            }
        }
    }

    /// Answers whether the wait was cancelled: then the signal is still the door's.
    private func abandon(_ signal: Promise<Void>) -> Bool {
        state.withLock { state in
            guard case .closed(let waiter) = state, waiter === signal else { return false }
            state = .closed(waiter: nil)
            return true
        }
    }
}

private func ~= (pattern: InvitationListener, value: InvitationListener) -> Bool { pattern === value }
