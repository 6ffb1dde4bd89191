import Foundation
import Multipeer

/// A thread of its own for calls that block, so that they never hold up the tasks of the program. It does one thing at
/// a time and reads nothing ahead: what nobody waits for is not in memory. It ends behind what it was given when nobody has
/// the worker any more.
package final class Worker: Sendable {
    /// What the thread keeps, which is not the worker.
    private final class Jobs: Sendable {
        private let waiting = Locked<[(@Sendable () -> Void)?]>([])
        private let ready = DispatchSemaphore(value: 0)

        /// Nil for the end.
        func add(_ job: (@Sendable () -> Void)?) {
            waiting.withLock { $0.append(job) }
            ready.signal()
        }

        func next() -> (@Sendable () -> Void)? {
            ready.wait()
            return waiting.withLock { $0.removeFirst() }
        }
    }

    private let jobs = Jobs()

    package init(_ name: String) {
        let thread = Thread { [jobs] in
            while let job = jobs.next() { job() }
        }
        thread.name = name
        thread.start()
    }

    deinit { jobs.add(nil) }

    /// Has it done after everything before.
    package func post(_ work: @escaping @Sendable () -> Void) { jobs.add(work) }

    /// Returns what `work` did. Cancelling the task does not stop it: a blocking call cannot be stopped.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(CommandError) -> Value
    ) async throws(CommandError) -> Value {
        let answer = Promise<Result<Value, CommandError>>()
        post {
            do throws(CommandError) { answer.send(.success(try work())) } catch {
                answer.send(.failure(error))
            }
        }
        return try await answer.value().get()
    }
}
