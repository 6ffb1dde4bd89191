// Visits to the main actor, which has an executor of its own and is no part of a virtual time.

extension MainActor {
    /// Calls `body` on the main actor. From the thread of a virtual time the call is a part of the present step: the
    /// thread waits for it, so that nothing else runs and no time passes, and what `body` makes ready runs afterwards,
    /// on that thread.
    package static func following<Value: Sendable, Failure: Error>(
        _ body: @escaping @MainActor @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let visit: @MainActor @Sendable () -> Result<Value, Failure> = {
            do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
        }
        guard let time = VirtualTime.current else { return try await MainActor.run(body: visit).get() }
        return try time.onMainActor(visit).get()
    }
}

extension VirtualTime {
    /// Calls `body` on the main actor, as if its thread were that of this time, which is blocked meanwhile.
    fileprivate func onMainActor<Value: Sendable>(
        _ body: @escaping @MainActor @Sendable () -> Value
    ) -> Value {
        let visit = Visit(body)
        Task.detached { @MainActor in
            self.occupying { visit.perform() }
            visit.end.signal()
        }
        visit.end.wait()
        return visit.result()
    }

    /// A call and its result. Nothing of them is left for the main actor's thread to release after the end: it would do
    /// so while the thread of the time is running.
    private final class Visit<Value: Sendable>: Sendable {
        private struct Call {
            let body: @MainActor @Sendable () -> Value
        }

        let end = ThreadSemaphore()
        private let call: Locked<Call?>
        private let value = Locked<Value?>(nil)

        init(_ body: @escaping @MainActor @Sendable () -> Value) { call = Locked(Call(body: body)) }

        @MainActor func perform() {
            guard let call = call.withLock({ $0.take() }) else { return }
            let result = call.body()
            value.withLock { $0 = result }
        }

        func result() -> Value {
            guard let value = value.withLock({ $0.take() }) else {
                preconditionFailure("a visit ended before its call")
            }
            return value
        }
    }
}
