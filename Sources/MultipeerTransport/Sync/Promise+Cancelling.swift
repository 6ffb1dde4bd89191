extension Promise {
    /// Waits for the value. Returns nil if the task is cancelled first, which leaves the promise to the others.
    package func valueUnlessCancelled() async -> Value? {
        let (sent, ticket) = state.withLock { state -> (Value?, UInt64) in
            if case .sent(let value) = state { return (value, 0) }
            return (nil, state.ticket())
        }
        if let sent { return sent }
        let value = await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Value?, Never>) in
                let answer = state.withLock { state -> Value?? in
                    if case .sent(let value) = state { return .some(value) }
                    // A cancellation that is not seen here finds the continuation: its handler needs this lock.
                    if Task.isCancelled { return .some(nil) }
                    unsafe state.append(.cancellable(ticket, continuation))
                    return nil
                }
                if let answer { unsafe continuation.resume(returning: answer) }
            }
        } onCancel: {
            cancel(ticket)
        }
        unsafe SanitizerAnnotation.acquire(address)
        return value
    }

    private func cancel(_ ticket: UInt64) {
        let waiter = state.withLock { $0.remove(ticket) }
        guard case .cancellable(_, let continuation) = waiter else { return }
        unsafe SanitizerAnnotation.release(address)
        SanitizerAnnotation.ignore(true)
        unsafe continuation.resume(returning: nil)
        SanitizerAnnotation.ignore(false)
    }
}

extension Promise.State {
    /// A number by which a waiter can be found again.
    fileprivate mutating func ticket() -> UInt64 {
        var waiters = waiters
        waiters.tickets += 1
        self = .shared(waiters)
        return waiters.tickets
    }

    @usableFromInline
    mutating func append(_ continuation: UnsafeContinuation<Value, Never>) {
        unsafe append(.lasting(continuation))
    }

    fileprivate mutating func append(_ waiter: Promise.Waiters.Waiter) {
        var waiters = waiters
        self = .idle  // so that the list is not copied
        waiters.list.append(waiter)
        self = .shared(waiters)
    }

    fileprivate mutating func remove(_ ticket: UInt64) -> Promise.Waiters.Waiter? {
        guard case .shared(var waiters) = self else { return nil }
        let index = waiters.list.firstIndex { waiter in
            if case .cancellable(ticket, _) = waiter { true } else { false }
        }
        guard let index else { return nil }
        let waiter = waiters.list.remove(at: index)
        self = .shared(waiters)
        return waiter
    }

    /// Those of a promise that is not settled.
    private var waiters: Promise.Waiters {
        switch self {
        case .shared(let waiters): waiters
        case .awaited(let continuation): unsafe Promise.Waiters(list: [.lasting(continuation)])
        case .idle, .sent: Promise.Waiters()
        }
    }
}

extension Promise.Waiters {
    @usableFromInline
    func resume(returning value: Value) {
        SanitizerAnnotation.ignore(true)
        for waiter in list {
            switch waiter {
            case .lasting(let continuation): unsafe continuation.resume(returning: value)
            case .cancellable(_, let continuation): unsafe continuation.resume(returning: value)
            }
        }
        SanitizerAnnotation.ignore(false)
    }
}
