/// It has not come, and its time is over.
struct NotInTime: Error {}

/// Waits for the body, at most a minute; then the body's task is cancelled.
func inTime<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: .seconds(60))
            throw NotInTime()
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw NotInTime() }
        return first
    }
}

/// Polls every few milliseconds until a condition holds that has no notification.
func atLast(_ isSo: () async -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while await !isSo() {
        if ContinuousClock.now > end { throw NotInTime() }
        try await Task.sleep(for: .milliseconds(2))
    }
}
