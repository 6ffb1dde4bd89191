import MultipeerTransport
import TestSupport
import Testing

@Suite("Async semaphore and mutex", .inTurns)
struct AsyncSemaphoreTests {
    private enum Over: Error, Equatable { case first, second }
    private typealias Semaphore = AsyncSemaphore<Over>

    @Test("waiting tasks get their permits in order, and none overtakes another")
    func order() async throws {
        let semaphore = Semaphore(1)
        #expect(semaphore.request().isAcquired)
        let turns = (0..<3).map { _ in semaphore.request().turn }
        for turn in turns {
            semaphore.release()
            #expect(!semaphore.request().isAcquired)
            try await semaphore.wait(for: #require(turn))
        }
    }

    @Test("a cancelled place in the queue is skipped")
    func cancelling() async throws {
        let semaphore = Semaphore(1)
        #expect(semaphore.request().isAcquired)
        let (first, second) = (try #require(semaphore.request().turn), try #require(semaphore.request().turn))
        let waiting = Task { try await semaphore.wait(for: first) }
        waiting.cancel()
        let error = await #expect(throws: Semaphore.Refusal.self) { try await waiting.value }
        guard case .cancelled = error else {
            Issue.record("\(error as Any)")
            return
        }
        semaphore.release()
        try await semaphore.wait(for: second)
        semaphore.release()
        #expect(semaphore.request().isAcquired)
    }

    @Test("cancellation racing with a release: no permit is lost")
    func race() async throws {
        for _ in 0..<500 {
            let semaphore = Semaphore(1)
            #expect(semaphore.request().isAcquired)
            let turn = try #require(semaphore.request().turn)
            let waiting = Task { try await semaphore.wait(for: turn) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { waiting.cancel() }
                group.addTask { semaphore.release() }
            }
            if case .success = await waiting.result { semaphore.release() }
            #expect(semaphore.request().isAcquired)
        }
    }

    @Test("the number of waiting tasks is bounded")
    func crowd() throws {
        let semaphore = Semaphore(1, waitersAtMost: 2)
        #expect(semaphore.request().isAcquired)
        _ = (semaphore.request(), semaphore.request())
        guard case .refused(.tooManyWait(2)) = semaphore.request() else {
            Issue.record("a third one waits")
            return
        }
    }

    @Test("a closed semaphore refuses waiting and new tasks, with the first reason")
    func closing() async throws {
        let semaphore = Semaphore(1)
        #expect(semaphore.request().isAcquired && semaphore.closure == nil)
        let turn = try #require(semaphore.request().turn)
        semaphore.close(.first)
        semaphore.close(.second)
        let error = await #expect(throws: Semaphore.Refusal.self) { try await semaphore.wait(for: turn) }
        guard case .closed(.first) = error else {
            Issue.record("\(error as Any)")
            return
        }
        guard case .refused(.closed(.first)) = semaphore.request() else {
            Issue.record("it is open")
            return
        }
        #expect(semaphore.closure == .first)
    }

    @Test("a mutex admits one task at a time, across an await, including a cancelled one")
    func mutex() async {
        let mutex = AsyncMutex()
        let isInside = Flag()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await mutex.lock()
                    #expect(!isInside.exchange(true))
                    for _ in 0..<3 { await Task.yield() }
                    #expect(isInside.exchange(false))
                    mutex.unlock()
                }
            }
            group.cancelAll()
        }
    }
}

extension AsyncSemaphore.Reply {
    fileprivate var isAcquired: Bool { if case .acquired = self { true } else { false } }
    fileprivate var turn: AsyncSemaphore.Turn? { if case .waits(let turn) = self { turn } else { nil } }
}

private final class Flag: Sendable {
    private let value = Locked(false)

    func exchange(_ new: Bool) -> Bool {
        value.withLock { value in
            defer { value = new }
            return value
        }
    }
}
