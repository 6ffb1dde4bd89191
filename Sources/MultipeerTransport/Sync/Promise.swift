/// A value that one task waits for and any thread delivers, once: the only place that touches a continuation.
///
/// Whoever sends first decides what the waiter gets; what is sent later is dropped. ThreadSanitizer cannot see the
/// hand-over inside the concurrency runtime, so it is annotated. Inlinable like `Locked`.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    /// Safe: a continuation is taken out by the one call that leaves `.awaited`, so it is resumed once.
    @safe @usableFromInline enum State {
        case idle
        case awaited(UnsafeContinuation<Value, Never>)
        case sent(Value)
    }

    @usableFromInline let state = Locked(State.idle)

    @inlinable
    package init() {}

    /// Answers whether this value is the one that the waiter gets.
    @inlinable
    @discardableResult
    package func send(_ value: Value) -> Bool {
        unsafe HandOver.release(address)
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
            // Resuming reads the waiter's frame, behind the release and before the waiter is woken.
            HandOver.ignore(true)
            unsafe continuation.resume(returning: value)
            HandOver.ignore(false)
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

    /// Waits for the value, whatever happens to the task. One task may wait, once.
    @inlinable
    package func value() async -> Value {
        let value = await unsafe withUnsafeContinuation { continuation in
            let ready = state.withLock { state -> Value? in
                switch state {
                case .sent(let value): return value
                case .idle:
                    state = unsafe .awaited(continuation)
                    return nil
                case .awaited: preconditionFailure("two tasks wait for one promise")
                }
            }
            if let ready { unsafe continuation.resume(returning: ready) }
        }
        unsafe HandOver.acquire(address)
        return value
    }

    /// Waits for the value; when the task is cancelled first, `onCancel` runs, which may send one.
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
