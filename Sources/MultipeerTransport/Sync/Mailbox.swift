/// Content that any thread changes, and that tasks wait on until they can take something from it: a monitor, and the
/// only loop of this module in which a reader waits for the next element.
///
/// The content is what a kind of mailbox makes of it: elements, batches of them, or the difference between what is and
/// what was last read. Cancelling a task ends its wait and nothing else: what is there already is taken first, and what
/// comes later stays for the next reader.
package final class Mailbox<Content: Sendable>: Sendable {
    private struct State {
        var content: Content
        var waiters = Waiters()
        /// How many tasks have begun to wait.
        var tickets: UInt64 = 0
        /// How often all waiters were woken: a task that finds another number than before does not begin to wait.
        var wakes: UInt64 = 0
    }

    /// A reader that is called instead of waiting in a task.
    package struct Notification: Sendable {
        private let call: @Sendable () -> Void

        package init(_ call: @escaping @Sendable () -> Void) { self.call = call }

        fileprivate func send() { call() }
    }

    /// Safe: a continuation is taken out by the one call that removes its waiter, so it is resumed once.
    @safe private enum Waiter {
        /// A task that waits, without an allocation for it; it is resumed with whether it was cancelled.
        case task(UInt64, UnsafeContinuation<Bool, Never>)
        case notification(Notification)

        func wake(isCancelled: Bool = false) {
            switch self {
            case .task(_, let continuation):
                // Resuming reads the waiter's frame, after the release and before the waiter is woken.
                SanitizerAnnotation.ignore(true)
                unsafe continuation.resume(returning: isCancelled)
                SanitizerAnnotation.ignore(false)
            case .notification(let notification): notification.send()
            }
        }

        func `is`(_ ticket: UInt64) -> Bool { if case .task(ticket, _) = self { true } else { false } }
    }

    /// Usually one, which needs no array.
    private struct Waiters {
        var first: Waiter?
        var others: [Waiter] = []

        mutating func append(_ waiter: Waiter) {
            if first == nil { first = waiter } else { others.append(waiter) }
        }

        /// Returns nil if the waiter was woken, or does not wait yet.
        mutating func remove(_ ticket: UInt64) -> Waiter? {
            if let first, first.is(ticket) {
                self.first = others.isEmpty ? nil : others.removeFirst()
                return first
            }
            return others.firstIndex { $0.is(ticket) }.map { others.remove(at: $0) }
        }

        func wake() {
            first?.wake()
            for waiter in others { waiter.wake() }
        }
    }

    private let state: Locked<State>

    package init(_ content: Content) { state = Locked(State(content: content)) }

    /// Reads the content, or changes it in a way that no task waits for.
    package func withLock<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
        state.withLock { body(&$0.content) }
    }

    /// Changes the content, and wakes all waiting tasks if `body` returns true: then there is something to take.
    @discardableResult
    package func post(_ body: (inout Content) -> Bool) -> Bool {
        unsafe SanitizerAnnotation.release(address)
        let woken = state.withLock { state -> Waiters? in
            guard body(&state.content) else { return nil }
            state.wakes &+= 1
            var woken = Waiters()
            swap(&woken, &state.waiters)
            return woken
        }
        woken?.wake()
        return woken != nil
    }

    /// Changes the content, and wakes all waiting tasks.
    package func post(_ body: (inout Content) -> Void) {
        post { content -> Bool in
            body(&content)
            return true
        }
    }

    /// Waits until `take` returns something; nil when the task is cancelled first. `take` must not call out.
    package func next<Item: Sendable>(_ take: (inout Content) -> Item?) async -> Item? {
        while true {
            let (item, ticket, wakes) = state.withLock { state -> (Item?, UInt64, UInt64) in
                if let item = take(&state.content) { return (item, 0, 0) }
                state.tickets &+= 1
                return (nil, state.tickets, state.wakes)
            }
            if let item { return item }
            if await wait(ticket, wakes) { return nil }
        }
    }

    /// Waits until all are woken, unless that has happened since there were that many wakes. Returns whether the task was
    /// cancelled instead.
    private func wait(_ ticket: UInt64, _ wakes: UInt64) async -> Bool {
        let isCancelled = await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
                let outcome = state.withLock { state -> Bool? in
                    if state.wakes != wakes { return false }
                    // A cancellation that is not seen here finds the waiter: its handler needs this lock.
                    if Task.isCancelled { return true }
                    unsafe state.waiters.append(.task(ticket, continuation))
                    return nil
                }
                if let outcome { unsafe continuation.resume(returning: outcome) }
            }
        } onCancel: {
            unsafe SanitizerAnnotation.release(address)
            let waiter = state.withLock { $0.waiters.remove(ticket) }
            waiter?.wake(isCancelled: true)
        }
        unsafe SanitizerAnnotation.acquire(address)
        return isCancelled
    }

    private var address: UnsafeRawPointer {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns what `take` returns. If that is nothing, the notification is called once, when there may be something: on the
    /// thread that posts it, which must not be held up.
    package func next<Item: Sendable>(
        _ take: (inout Content) -> Item?, otherwise notification: Notification
    ) -> Item? {
        state.withLock { state in
            if let item = take(&state.content) { return item }
            state.waiters.append(.notification(notification))
            return nil
        }
    }
}
