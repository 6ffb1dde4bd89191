import MultipeerCore

// What the library begins beside the tasks of its callers.

extension Task where Failure == Never {
    /// A task that runs in the virtual time of the thread that begins it, otherwise like any other.
    @discardableResult
    package static func following(
        _ body: sending @escaping () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: VirtualTime.current, operation: body)
    }

    /// The same, with nothing of the task that begins it: neither its values nor its priority.
    @discardableResult
    package static func followingDetached(
        _ body: sending @escaping () async -> Success
    ) -> Task<Success, Never> {
        Task.detached(executorPreference: VirtualTime.current, operation: body)
    }
}

/// Waits, in virtual time on a thread that has one. Throws `CancellationError` when the task is cancelled first.
package enum Pause {
    package static func sleep(for duration: Duration) async throws {
        guard let time = VirtualTime.current else { return try await Task.sleep(for: duration) }
        try await time.sleep(until: time.now + duration)
    }
}
