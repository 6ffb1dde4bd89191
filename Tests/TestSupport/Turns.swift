import Synchronization
package import Testing

/// Lets only a few tests of a suite run at a time: those that wait for real sockets, processes and patience, which a
/// hundred others beside them would starve.
package struct Turns: SuiteTrait, TestScoping {
    private static let places = Places(8)

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        // A suite holds no place: its tests take them.
        guard testCase != nil else { return try await body() }
        await Turns.places.take()
        defer { Turns.places.giveBack() }
        try await body()
    }
}

extension Trait where Self == Turns {
    /// A few at a time, over all the suites that say so.
    package static var inTurns: Turns { Turns() }
}

/// So many places; who comes when there is none waits its turn.
private final class Places: Sendable {
    private struct State: Sendable {
        var free: Int
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func take() async {
        let (turn, called) = AsyncStream<Void>.makeStream()
        let isFree = state.withLock { state in
            if state.free == 0 {
                state.waiting.append(called)
                return false
            }
            state.free -= 1
            return true
        }
        if isFree { return }
        for await _ in turn { return }
    }

    func giveBack() {
        let next = state.withLock { state -> AsyncStream<Void>.Continuation? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.yield()
    }
}
