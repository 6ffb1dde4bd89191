import Dispatch
import MultipeerTransport

/// The queue of one object's delegate calls: one call after the other, in order, on a thread that no caller has to run.
///
/// No thread blocks to wait for it: a caller inside a callback, or one that holds a lock of its own, can never deadlock.
final class CallbackQueue: Sendable {
    /// Private and serial. It may be suspended to delay callbacks for a moment.
    let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Calls `body` after everything that was enqueued before.
    func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Calls `body` in the same way, waits for it, and returns its result.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        let done = Promise<Result>()
        async { done.send(body()) }
        return await done.value()
    }
}
