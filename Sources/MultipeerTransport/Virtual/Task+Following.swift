import MultipeerCore

// Tasks that the library begins itself.

extension Task where Failure == Never {
    /// Begins a task that runs in the virtual time of the current thread, otherwise an ordinary one.
    @discardableResult
    package static func following(
        _ body: sending @escaping () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: VirtualTime.current, operation: body)
    }

    /// Begins such a task that prefers a loop's executor outside of virtual time: it wakes no other thread.
    @discardableResult
    package static func following(
        on executor: LoopTaskExecutor, _ body: sending @escaping () async -> Success
    ) -> Task<Success, Never> {
        let time: (any TaskExecutor)? = VirtualTime.current
        return Task(executorPreference: time ?? executor, operation: body)
    }

    /// Begins such a task that inherits neither task-local values nor priority.
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
