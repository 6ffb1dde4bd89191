import Dispatch
import MultipeerEssentials

/// A thread for blocking calls, so that they never block the program's tasks. It does one job at a time and reads nothing
/// ahead, so that no unrequested data is in memory. When the worker is released, the thread ends after its queued jobs.
package final class Worker: Sendable {
    /// The job queue. The thread retains it, not the worker.
    private final class Jobs: Sendable {
        private struct Job {
            /// Nil ends the thread.
            let run: (@Sendable () -> Void)?
        }

        private let waiting = Locked<[Job]>([])
        private let ready = DispatchSemaphore(value: 0)

        /// Adds a job; nil ends the thread.
        func add(_ job: (@Sendable () -> Void)?) {
            waiting.withLock { $0.append(Job(run: job)) }
            ready.signal()
        }

        func next() -> (@Sendable () -> Void)? {
            ready.wait()
            return waiting.withLock { $0.removeFirst() }.run
        }
    }

    private let jobs = Jobs()

    package init(_ name: String) {
        SystemThread.start(name) { [jobs] in
            while let job = jobs.next() { job() }
        }
    }

    deinit { jobs.add(nil) }

    /// Queues a job.
    package func post(_ work: @escaping @Sendable () -> Void) { jobs.add(work) }

    /// Returns the result of `work`. Cancelling the task does not stop it: a blocking call cannot be stopped.
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
