import Glibc
import MultipeerTransport
import TestSupport
import Testing

@Suite("4.1 Pools of loops", .inTurns)
struct LoopPoolTests {
    @Test("a loop that could not be started is started at the next call")
    func failedStart() throws {
        let failures = Locked(1)
        let pool = LoopPool(atMost: 2) { () throws(SocketFault) in
            let fails = failures.withLock { count in
                defer { count -= 1 }
                return count > 0
            }
            if fails { throw .tooManyFiles }
            return try EventLoop()
        }
        #expect(throws: SocketFault.tooManyFiles) { _ = try pool.next() }
        let loops = try (0..<4).map { _ in try pool.next() }
        var ended: [EventLoop] = []
        for loop in loops where !ended.contains(where: { $0 === loop }) {
            loop.shutdown()
            ended.append(loop)
        }
        #expect((1...2).contains(ended.count))
    }

    @Test("while no further loop can be started, those that run take its turns")
    func fewerLoops() throws {
        let started = Locked(0)
        let pool = LoopPool(atMost: 2) { () throws(SocketFault) in
            let isFirst = started.withLock { count in
                defer { count += 1 }
                return count == 0
            }
            guard isFirst else { throw .tooManyFiles }
            return try EventLoop()
        }
        let loops = try (0..<5).map { _ in try pool.next() }
        #expect(loops.allSatisfy { $0 === loops[0] })
        loops[0].shutdown()
    }

    @Test("a loop without a thread says which limits there are, and as many threads as exist were counted")
    func noThread() async throws {
        #expect(LoopThread.problem(running: 3) == nil)
        var rest = 2
        let problem = LoopThread.problem(running: 3) { name, body throws(SocketFault) in
            if rest == 0 { throw .noThread }
            rest -= 1
            return try LoopThread.start(name, body)
        }
        #expect(problem == .noThread && rest == 0)
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { try #require(setuid(65_534) == 0) }
            var limit = rlimit()
            // `RLIMIT_NPROC`.
            unsafe getrlimit(__rlimit_resource_t(6), &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = 1
            unsafe setrlimit(__rlimit_resource_t(6), &limit)
            #expect(throws: SocketFault.noThread) { _ = try EventLoop() }
            #expect(LoopThread.problem(running: 1) == .noThread)
            limit.rlim_cur = before
            unsafe setrlimit(__rlimit_resource_t(6), &limit)
            #expect(LoopThread.problem(running: 1) == nil)
        }
    }
}
