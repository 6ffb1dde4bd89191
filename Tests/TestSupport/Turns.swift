import Foundation
package import Testing

/// Limits how many tests of its kind run at a time, over all suites. Each suite states the kind of its tests.
package struct Turns: SuiteTrait, TestTrait, TestScoping {
    fileprivate let kind: Places.Kind

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        // A suite takes no place; its tests do.
        guard testCase != nil else { return try await body() }
        await Places.shared.take(kind)
        do {
            try await body()
        } catch {
            await Places.shared.giveBack(kind)
            throw error
        }
        await Places.shared.giveBack(kind)
    }
}

extension Trait where Self == Turns {
    /// For tests that wait for real sockets, processes and timeouts, which a hundred tests at once would starve.
    package static var inTurns: Turns { Turns(kind: .waiting) }

    /// For tests that only compute: they leave threads for those that wait.
    package static var computing: Turns { Turns(kind: .computing) }
}

/// A limited number of places; a test that finds none waits for its turn. This is an actor because ThreadSanitizer does
/// not understand `Mutex`.
private actor Places {
    enum Kind { case computing, waiting }

    /// The tests of one kind.
    private struct Line {
        var running = 0
        var queue: [AsyncStream<Void>.Continuation] = []
        var isEmpty: Bool { running == 0 && queue.isEmpty }
    }

    static let shared = Places()

    private let processors = ProcessInfo.processInfo.activeProcessorCount
    private var computing = Line()
    private var waiting = Line()

    /// Half of the pool's threads while any waiting test runs or is queued, else all of them.
    private var computingPlaces: Int { waiting.isEmpty ? processors : max(1, processors / 2) }

    func take(_ kind: Kind) async {
        let (turn, called) = AsyncStream<Void>.makeStream()
        switch kind {
        case .computing: computing.queue.append(called)
        case .waiting: waiting.queue.append(called)
        }
        call()
        for await _ in turn { return }
    }

    func giveBack(_ kind: Kind) {
        switch kind {
        case .computing: computing.running -= 1
        case .waiting: waiting.running -= 1
        }
        call()
    }

    private func call() {
        Places.call(&waiting, upTo: 8)
        Places.call(&computing, upTo: computingPlaces)
    }

    private static func call(_ line: inout Line, upTo places: Int) {
        while line.running < places, !line.queue.isEmpty {
            line.running += 1
            line.queue.removeFirst().yield()
        }
    }
}
