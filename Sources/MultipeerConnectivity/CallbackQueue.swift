import Dispatch
import MultipeerTransport

/// Where one object's delegate is called: one call after the other, in order, on no thread that anybody has to run.
///
/// Nothing ever waits for it while it blocks a thread: who calls from inside a callback, or holds a lock of its own, is
/// never part of a ring.
final class CallbackQueue: Sendable {
    /// Private and serial. It may be suspended to hold callbacks back for a moment.
    let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Calls after everything that was put in before.
    func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// The same, and returns when the call has returned, with what it returned.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        let done = Promise<Result>()
        async { done.send(body()) }
        return await done.value()
    }
}
