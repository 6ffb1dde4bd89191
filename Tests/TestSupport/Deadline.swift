/// A wait in a test timed out.
package struct Overdue: Error {
    package init() {}
}

/// Waits for the body for at most `timeLimit`, then cancels its task and throws ``Overdue``.
package func within<Value: Sendable>(
    _ timeLimit: Duration = .seconds(60), _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: timeLimit)
            throw Overdue()
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw Overdue() }
        return first
    }
}
