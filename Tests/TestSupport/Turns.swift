package import Testing

/// Lets only a few tests of its kind run at a time, over all the suites that say so.
package struct Turns: SuiteTrait, TestTrait, TestScoping {
    fileprivate static let waiting = Places(8)
    fileprivate static let computing = Places(1)

    fileprivate let places: Places

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        // A suite holds no place: its tests take them.
        guard testCase != nil else { return try await body() }
        await places.take()
        do {
            try await body()
        } catch {
            await places.giveBack()
            throw error
        }
        await places.giveBack()
    }
}

extension Trait where Self == Turns {
    /// For those that wait for real sockets, processes and patience, which a hundred others beside them would starve.
    package static var inTurns: Turns { Turns(places: Turns.waiting) }

    /// For those that compute and wait for nothing: beside one of them there is a thread for those that do.
    package static var computing: Turns { Turns(places: Turns.computing) }
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
