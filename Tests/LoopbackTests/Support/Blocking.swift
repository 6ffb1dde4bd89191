import Foundation
import MultipeerTransport
import TestSupport
import Testing

/// Blocks the main thread until something that runs elsewhere is done.
enum Blocking {
    private final class Work: Sendable {
        let result = Locked<Result<Void, any Error>?>(nil)
    }

    /// Blocks the main thread; gives up after a minute.
    @MainActor static func main(_ body: @escaping @Sendable () async throws -> Void) throws {
        let work = Work()
        let condition = NSCondition()
        Task.detached {
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            work.result.withLock { $0 = result }
            condition.withLock { condition.signal() }
        }
        let end = Date(timeIntervalSinceNow: 60)
        condition.withLock {
            while work.result.withLock({ $0 == nil }), condition.wait(until: end) {}
        }
        guard let result = work.result.withLock({ $0 }) else { throw Overdue() }
        try result.get()
    }
}
