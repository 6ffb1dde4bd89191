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
    }

    /// A reader that is called instead of waiting in a task.
    package struct Notification: Sendable {
        private let call: @Sendable () -> Void

        package init(_ call: @escaping @Sendable () -> Void) { self.call = call }

        fileprivate func send() { call() }
    }

    private enum Waiter {
        case task(Promise<Void>)
        case notification(Notification)

        func wake() {
            switch self {
            case .task(let signal): signal.send(())
            case .notification(let notification): notification.send()
            }
        }

        func `is`(_ signal: Promise<Void>) -> Bool {
            if case .task(let own) = self { own === signal } else { false }
        }
    }

    /// Usually one, which needs no array.
    private struct Waiters {
        var first: Waiter?
        var others: [Waiter] = []

        mutating func append(_ waiter: Waiter) {
            if first == nil { first = waiter } else { others.append(waiter) }
        }

        /// Returns false if the waiter was woken.
        mutating func remove(_ signal: Promise<Void>) -> Bool {
            if first?.is(signal) == true {
                first = others.isEmpty ? nil : others.removeFirst()
                return true
            }
            guard let index = others.firstIndex(where: { $0.is(signal) }) else { return false }
            others.remove(at: index)
            return true
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
        let woken = state.withLock { state -> Waiters? in
            guard body(&state.content) else { return nil }
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
            let (item, waiter) = state.withLock { state -> (Item?, Promise<Void>?) in
                if let item = take(&state.content) { return (item, nil) }
                let waiter = Promise<Void>()
                state.waiters.append(.task(waiter))
                return (nil, waiter)
            }
            guard let waiter else { return item }
            await waiter.value(onCancel: { waiter.send(()) })
            // No other call has removed it: the cancellation settled it.
            if state.withLock({ $0.waiters.remove(waiter) }) { return nil }
        }
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
