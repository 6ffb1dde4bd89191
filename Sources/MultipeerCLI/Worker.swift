import Foundation
import Multipeer

/// A thread of its own for calls that block, so that they never hold up the tasks of the program. It does one thing at
/// a time and reads nothing ahead: what nobody waits for is not in memory.
package final class Worker: Sendable {
    private let jobs = Locked<[@Sendable () -> Void]>([])
    private let ready = DispatchSemaphore(value: 0)

    package init(_ name: String) {
        let thread = Thread { [self] in
            while true {
                ready.wait()
                jobs.withLock { $0.removeFirst() }()
            }
        }
        thread.name = name
        thread.start()
    }

    /// Answers what `work` did. Cancelling the task does not stop it: a blocking call cannot be stopped.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(Complaint) -> Value
    ) async throws(Complaint) -> Value {
        let answer = Signal<Result<Value, Complaint>>()
        jobs.withLock { jobs in
            jobs.append {
                do throws(Complaint) { answer.send(.success(try work())) } catch {
                    answer.send(.failure(error))
                }
            }
        }
        ready.signal()
        return try await answer.value().get()
    }
}
