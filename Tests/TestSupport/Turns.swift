package import Testing

/// Lets only a few tests of a suite run at a time: those that wait for real sockets, processes and patience, which a
/// hundred others beside them would starve.
package struct Turns: SuiteTrait, TestTrait, TestScoping {
    private static let places = Places(8)

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        // A suite holds no place: its tests take them.
        guard testCase != nil else { return try await body() }
        await Turns.places.take()
        do {
            try await body()
        } catch {
            await Turns.places.giveBack()
            throw error
        }
        await Turns.places.giveBack()
    }
}

extension Trait where Self == Turns {
    /// A few at a time, over all the suites that say so.
    package static var inTurns: Turns { Turns() }
}

/// So many places; who comes when there is none waits its turn. An actor: ThreadSanitizer does not understand `Mutex`.
private actor Places {
    private var free: Int
    private var waiting: [AsyncStream<Void>.Continuation] = []

    init(_ count: Int) { free = count }

    func take() async {
        if free > 0 {
            free -= 1
            return
        }
        let (turn, called) = AsyncStream<Void>.makeStream()
        waiting.append(called)
        for await _ in turn { return }
    }

    func giveBack() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().yield()
        }
    }
}
