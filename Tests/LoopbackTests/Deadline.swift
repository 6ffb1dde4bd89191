/// The time of a test is over, and what it waited for has not come.
struct Overdue: Error {}

/// Waits for the body at most so long; then the body's task is cancelled.
func within<Value: Sendable>(
    _ patience: Duration = .seconds(60), _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: patience)
            throw Overdue()
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw Overdue() }
        return first
    }
}

/// Tries what ends by somebody's patience, with more patience each time: on a busy machine nothing may have happened in
/// the shortest. The body answers whether it came to the point.
func eventually(_ body: (Duration) async throws -> Bool) async throws {
    for patience in [Duration.milliseconds(1_500), .seconds(6), .seconds(20)] where try await body(patience) {
        return
    }
    throw Overdue()
}
