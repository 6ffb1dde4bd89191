import MultipeerTransport

/// The tasks that were started on a network and have not returned, by their numbers.
final class RunningTasks: Sendable {
    private struct Entry: Sendable {
        let name: String
        let cancel: @Sendable () -> Void
        let over: Task<Void, Never>
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
    }

    private let state = Locked(State())

    func begin<Value: Sendable>(
        _ name: String, on executor: any TaskExecutor, _ body: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        let task = Task(executorPreference: executor) { try await body() }
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let over = Task(executorPreference: executor) { [weak self] in
            _ = await task.result
            self?.remove(number)
        }
        let entry = Entry(name: name, cancel: { task.cancel() }, over: over)
        state.withLock { $0.entries[number] = entry }
        return task
    }

    private func remove(_ number: Int) { state.withLock { $0.entries[number] = nil } }

    /// The places at which the tasks that have not returned were started, oldest first.
    var names: [String] { all.map(\.name) }

    private var all: [Entry] {
        state.withLock { state in state.entries.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Cancels all tasks, and waits for them.
    func finish() async {
        while case let entries = all, !entries.isEmpty {
            for entry in entries { entry.cancel() }
            for entry in entries { await entry.over.value }
        }
    }
}
