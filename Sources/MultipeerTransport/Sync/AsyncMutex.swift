/// Admits one task at a time, in the order in which they came, and over an `await`, which `Locked` cannot.
///
/// Cancelling a task does not end its wait: its callers have something to finish, or to stop.
package final class AsyncMutex: Sendable {
    private let semaphore = AsyncSemaphore<Never>(1)

    package init() {}

    package func lock() async {
        if case .waits(let turn) = semaphore.request() { _ = await turn.outcome.value() }
    }

    package func unlock() { semaphore.release() }
}
