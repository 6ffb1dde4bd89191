import MultipeerTransport
import Testing

/// A log of what has happened so far, for a test that waits for more.
final class Log<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiting: [Promise<Bool>] = []
    }

    /// The timeout of a wait.
    struct Overdue: Error { let entries: [Entry] }

    private let state = Locked(State())

    var all: [Entry] { state.withLock { $0.entries } }

    func note(_ entry: Entry) {
        let waiting = state.withLock { state in
            state.entries.append(entry)
            defer { state.waiting = [] }
            return state.waiting
        }
        for signal in waiting { signal.send(true) }
    }

    /// Waits until this holds, at most half a minute.
    func until(_ isSo: @Sendable ([Entry]) -> Bool) async throws {
        let signal = Promise<Bool>()
        let alarm = Task {
            guard (try? await Task.sleep(for: .seconds(30))) != nil else { return }
            signal.send(false)
            self.wake()
        }
        defer { alarm.cancel() }
        while true {
            let change = Promise<Bool>()
            let entries = state.withLock { state in
                state.waiting.append(change)
                return state.entries
            }
            if isSo(entries) { return }
            if signal.isSent { throw Overdue(entries: entries) }
            _ = await change.value()
        }
    }

    /// Waits until there are that many entries, and returns the one with that number.
    func entry(_ number: Int) async throws -> Entry {
        try await until { $0.count > number }
        return all[number]
    }

    private func wake() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for signal in waiting { signal.send(true) }
    }
}
