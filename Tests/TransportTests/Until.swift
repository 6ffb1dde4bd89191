import TestSupport

/// Looks again and again, every few milliseconds, until something is so.
func until(_ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try await !condition() {
        if ContinuousClock.now > end { throw Overdue() }
        try await Task.sleep(for: .milliseconds(5))
    }
}
