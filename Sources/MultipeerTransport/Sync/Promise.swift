/// A value that is settled once, by any thread, and that any number of tasks may wait for.
///
/// The first `send` settles it; later ones are dropped. It and `Mailbox` are the only places that touch a continuation: the mutex
/// and the semaphore in this folder wait with promises. ThreadSanitizer cannot see the hand-over inside the concurrency
/// runtime, so it is annotated. Inlinable like `Locked`.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    /// Safe: a continuation is taken out by the one call that changes the state, so it is resumed once.
    @safe @usableFromInline enum State {
        case idle
        /// The usual case: one task, and no allocation for it.
        case awaited(UnsafeContinuation<Value, Never>)
        case shared(Waiters)
        case sent(Value)
    }

    /// More than one task, or one whose cancellation ends its wait.
    @usableFromInline struct Waiters {
        @safe enum Waiter {
            case lasting(UnsafeContinuation<Value, Never>)
            case cancellable(UInt64, UnsafeContinuation<Value?, Never>)
        }

        var list: [Waiter] = []
        var tickets: UInt64 = 0
    }

    @usableFromInline let state = Locked(State.idle)

    @inlinable
    package init() {}

    /// Settles the promise. Returns false if it was settled before: then this value is dropped.
    @inlinable
    @discardableResult
    package func send(_ value: Value) -> Bool {
        unsafe SanitizerAnnotation.release(address)
        let before = state.withLock { state in
            let before = state
            if case .sent = state { return before }
            state = .sent(value)
            return before
        }
        switch before {
        case .sent: return false
        case .idle: break
        case .awaited(let continuation):
            // Resuming reads the waiter's frame, after the release and before the waiter is woken.
            SanitizerAnnotation.ignore(true)
            unsafe continuation.resume(returning: value)
            SanitizerAnnotation.ignore(false)
        case .shared(let waiters): waiters.resume(returning: value)
        }
        return true
    }

    /// Whether there is a value already.
    @inlinable
    package var isSent: Bool {
        state.withLock { state in
            if case .sent = state { true } else { false }
        }
    }

    /// The value, if there is one already.
    package var sentValue: Value? {
        state.withLock { state in
            if case .sent(let value) = state { value } else { nil }
        }
    }

    /// Waits for the value, even in a task that is cancelled.
    @inlinable
    package func value() async -> Value {
        let value = await unsafe withUnsafeContinuation { continuation in
            let ready = state.withLock { state -> Value? in
                switch state {
                case .sent(let value): return value
                case .idle: state = unsafe .awaited(continuation)
                case .awaited, .shared: unsafe state.append(continuation)
                }
                return nil
            }
            if let ready { unsafe continuation.resume(returning: ready) }
        }
        unsafe SanitizerAnnotation.acquire(address)
        return value
    }

    /// Waits for the value; if the task is cancelled first, `onCancel` runs, which may settle the promise.
    @inlinable
    package func value(onCancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await value()
        } onCancel: {
            onCancel()
        }
    }

    @inlinable
    var address: UnsafeRawPointer {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }
}
