import Foundation
package import Testing

/// Limits how many tests of its kind run at a time, over all suites, and how long each may take. Each suite states the kind
/// of its tests.
///
/// The limit counts from the beginning of a test's turn. The trait `.timeLimit` counts from the beginning of the test, so its
/// limit contains the wait for the turn, which is as long as the tests before it take.
package struct Turns: SuiteTrait, TestTrait, TestScoping {
    fileprivate let kind: Places.Kind
    /// How long one test, or one of its cases, may take. Without a limit, it may take any time.
    fileprivate let timeLimit: Duration?

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        // A suite takes no place; its tests do.
        guard testCase != nil else { return try await body() }
        await Places.shared.take(kind)
        do {
            try await withoutActuallyEscaping(body) { body in try await limited(body) }
        } catch {
            await Places.shared.giveBack(kind)
            throw error
        }
        await Places.shared.giveBack(kind)
    }

    private enum Ending: Sendable {
        case body((any Error)?)
        case time
    }

    /// Runs the body. When its time is up, this reports that at once, cancels the body's task, and waits for it; what the body
    /// throws then is not reported as well.
    package func limited(
        _ body: @escaping @Sendable () async throws -> Void,
        report: (String) -> Void = { Issue.record("\($0)") }
    ) async throws {
        guard let timeLimit else { return try await body() }
        let error = await withTaskGroup(of: Ending.self) { group -> (any Error)? in
            group.addTask {
                do { try await body() } catch { return .body(error) }
                return .body(nil)
            }
            group.addTask {
                try? await Task.sleep(for: timeLimit)
                return .time
            }
            var isOverdue = false
            while let ending = await group.next() {
                switch ending {
                case .body(let error):
                    group.cancelAll()
                    return isOverdue ? nil : error
                // The caller was cancelled: the body ends, too.
                case .time where Task.isCancelled: break
                case .time:
                    isOverdue = true
                    report("the test had not ended \(timeLimit) after its turn had begun")
                    group.cancelAll()
                }
            }
            return nil
        }
        if let error { throw error }
    }
}

extension Trait where Self == Turns {
    /// For tests that wait for real sockets, processes and timeouts, which a hundred tests at once would starve.
    package static var inTurns: Turns { inTurns(within: .seconds(300)) }

    /// Returns the same trait with another limit.
    package static func inTurns(within timeLimit: Duration) -> Turns {
        Turns(kind: .waiting, timeLimit: timeLimit)
    }

    /// For tests that only compute: they leave threads for those that wait.
    package static var computing: Turns { Turns(kind: .computing, timeLimit: nil) }
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
