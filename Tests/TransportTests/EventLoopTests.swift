import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@Suite("Event loop", .inTurns)
struct EventLoopTests {
    @Test("a job of an actor runs on the thread of its loop")
    func isolation() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            let onLoop = await probe.run { probe in
                probe.assertIsolated()
                return probe.loop.isOnLoop
            }
            #expect(onLoop)
            #expect(!loop.isOnLoop)
        }
    }

    @Test("a task that prefers the loop runs on its thread")
    func taskExecutor() async throws {
        try await withLoop { loop in
            let onLoop = await Task(executorPreference: loop.taskExecutor) { loop.isOnLoop }.value
            #expect(onLoop)
        }
    }

    @Test("ten thousand wakeups while the loop is busy become one call")
    func coalescing() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            await probe.run { probe in
                for _ in 0..<10_000 { probe.loop.wake(probe) }
            }
            await probe.heard(.turnEnded)
            #expect(await probe.calls == [.wokenUp, .turnEnded])
        }
    }

    @Test("of a thousand jobs that wait together, the last does not delay the effects of the first")
    func bursts() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            // In one job, so that all of them are waiting when it is over.
            let jobs = await probe.run { probe in
                (0..<1_000).map { _ in
                    Task(executorPreference: loop.taskExecutor) {
                        loop.wake(probe)
                        return probe.turnsEnded
                    }
                }
            }
            var ended: [Int] = []
            for job in jobs { ended.append(await job.value) }
            #expect(ended.first == 0)
            #expect(ended[200] >= 1)
            #expect(ended[999] >= 5)
        }
    }

    @Test("no wakeup is lost, from whatever thread")
    func wakes() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            for _ in 0..<1_000 {
                loop.wake(probe)
                await probe.heard(.wokenUp)
                await probe.forget()
            }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { for _ in 0..<10_000 { loop.wake(probe) } } }
            }
            await probe.forget()
            loop.wake(probe)
            await probe.heard(.wokenUp)
        }
    }

    @Test("what waits for the end of a turn needs no wakeup on the loop's thread, and one from others")
    func turnEndWakes() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            let wake = loop.turnEndWaker(keeping: probe)
            await probe.run { _ in wake() }
            await probe.heard(.turnEnded)
            #expect(await probe.calls == [.turnEnded])
            await probe.forget()
            await Task.detached { wake() }.value
            await probe.heard(.turnEnded)
            #expect(await probe.calls == [.wokenUp, .turnEnded])
        }
    }

    @Test("no wakeup is lost during a burst, and a job in it does not wait for more messages")
    func burst() async throws {
        try await withLoop { loop in
            let probe = Probe(loop, takesMessages: true)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { for _ in 0..<20_000 { loop.wake(probe) } } }
                for _ in 0..<100 { group.addTask { _ = await probe.turnsEndedSoFar } }
            }
            await probe.forget()
            loop.wake(probe)
            await probe.heard(.wokenUp)
        }
    }

    @Test("deadlines fire in order, each once, and the client is notified of the turn's end")
    func deadlines() async throws {
        try await withLoop { loop in
            let early = Probe(loop)
            let late = Probe(loop)
            let never = Probe(loop)
            let start = EventLoop.currentMoment()
            await late.run { [early, never] late in
                late.loop.setDeadline(never, start + .milliseconds(1))
                late.loop.setDeadline(late, start + .milliseconds(20))
                late.loop.setDeadline(early, start + .milliseconds(5))
                late.loop.setDeadline(never, nil)
            }
            await late.heard(.turnEnded)
            #expect(EventLoop.currentMoment() >= start + .milliseconds(20))
            #expect(await early.calls == [.deadline, .turnEnded])
            #expect(await late.calls == [.deadline, .turnEnded])
            #expect(await never.calls == [])
        }
    }

    @Test("a descriptor that becomes readable is reported with its token until it is deregistered")
    func readiness() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            let pipe = Pipe()
            await probe.whenReady { probe, _, _ in probe.loop.deregister(pipe.reader) }
            try await probe.run { probe throws(SocketFault) in
                try probe.loop.register(pipe.reader, for: probe, token: 7, interest: .readable)
            }
            pipe.put()
            await probe.heard(.turnEnded)
            #expect(await probe.calls == [.ready(7, .readable), .turnEnded])
        }
    }

    @Test("a hang-up is reported as failed, even without interest")
    func hangUp() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            let pipe = Pipe()
            await probe.whenReady { probe, _, _ in probe.loop.deregister(pipe.reader) }
            try await probe.run { probe throws(SocketFault) in
                try probe.loop.register(pipe.reader, for: probe, token: 1, interest: [])
            }
            pipe.hangUp()
            await probe.heard(.ready(1, .failed))
        }
    }

    @Test("an event that was found before its descriptor was deregistered is not delivered")
    func staleEvents() async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            let pipes = [Pipe(), Pipe()]
            // Whichever comes first deregisters the other and registers it again under another token.
            await probe.whenReady { probe, token, _ in
                for pipe in pipes { probe.loop.deregister(pipe.reader) }
                if token > 1 { return }
                try? probe.loop.register(pipes[1 - token].reader, for: probe, token: 9, interest: .readable)
            }
            try await probe.run { probe throws(SocketFault) in
                for (token, pipe) in pipes.enumerated() {
                    try probe.loop.register(pipe.reader, for: probe, token: token, interest: .readable)
                    pipe.put()
                }
            }
            await probe.heard(.ready(9, .readable))
            let calls = await probe.calls.filter { $0 != .turnEnded }
            #expect(calls.count == 2)
            #expect(calls.last == .ready(9, .readable))
        }
    }

    @Test("a loop that was shut down releases its clients and closes its descriptors")
    func shutdown() async throws {
        weak var forgotten: Probe?
        weak var gone: EventLoop?
        let pipe = Pipe()
        do {
            let loop = try EventLoop()
            let probe = Probe(loop)
            (forgotten, gone) = (probe, loop)
            try await probe.run { probe throws(SocketFault) in
                try probe.loop.register(pipe.reader, for: probe, token: 0, interest: .readable)
            }
            loop.shutdown()
            loop.shutdown()
            loop.wake(probe)
        }
        #expect(forgotten == nil)
        #expect(gone == nil)
    }

    @Test("the pool returns its loops one after the other, and then again")
    func pool() throws {
        let loops = try (0..<8).map { _ in ObjectIdentifier(try EventLoop.next()) }
        #expect(Set(loops).count <= 4)
    }
}
