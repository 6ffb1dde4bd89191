import Dispatch
import MultipeerTransport

/// The queue of one object's delegate calls: one call after the other, in order.
///
/// It is private, or has a queue of the application as its target, such as the main one. No thread blocks to wait for it: a caller
/// inside a callback, or one that holds a lock of its own, can never deadlock.
final class CallbackQueue: Sendable {
    private struct State {
        var queue: DispatchQueue
        var target: DispatchQueue?
        /// Whether the target has run a call.
        var isServed = false
    }

    private let label: String
    private let state: Locked<State>

    /// Creates a queue; without a target no thread of the application is needed.
    init(_ label: String, on target: DispatchQueue? = nil) {
        self.label = label
        state = Locked(State(queue: DispatchQueue(label: label, target: target), target: target))
    }

    /// The serial queue of the calls. It may be suspended to delay callbacks for a moment.
    var queue: DispatchQueue { state.withLock { $0.queue } }

    /// The application's queue on which calls are made from now on; nil for none.
    var target: DispatchQueue? {
        get { state.withLock { $0.target } }
        set {
            let queue = DispatchQueue(label: label, target: newValue)
            state.withLock { $0 = State(queue: queue, target: newValue) }
        }
    }

    /// Calls `body` after everything that was enqueued before.
    func async(_ body: @escaping @Sendable () -> Void) {
        let (queue, mayWait) = state.withLock { ($0.queue, $0.target != nil && !$0.isServed) }
        if !mayWait { return queue.async(execute: body) }
        queue.async { [self] in
            state.withLock { if $0.queue === queue { $0.isServed = true } }
            body()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + CallbackQueue.timeLimit) { [weak self] in
            self?.reportIfWaiting(queue)
        }
    }

    /// Calls `body` in the same way, waits for it, and returns its result.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        let done = Promise<Result>()
        async { done.send(body()) }
        return await done.value()
    }

    /// The time after which a main queue that has never run a call is taken for one that does not run.
    private static let timeLimit = DispatchTimeInterval.seconds(3)

    /// A program that blocks its main thread gets no calls there, and would not know why.
    private func reportIfWaiting(_ queue: DispatchQueue) {
        let isWaiting = state.withLock {
            $0.queue === queue && $0.target?.label == DispatchQueue.main.label && !$0.isServed
        }
        guard isWaiting else { return }
        ConsoleNotices.shared.write(
            once: "\(label): a delegate call waits for the main queue, which does not run; run it "
                + "(RunLoop.main.run() or dispatchMain()), or set delegateCallQueue to nil")
    }
}
