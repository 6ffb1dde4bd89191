// SPDX-License-Identifier: Apache-2.0
//
// The limit of an `await`: what it costs to get from one executor to another and back, with nothing done there. A session's
// events come from its own thread, so a task on the global executor that waits for one pays at least one such hop.
import Dispatch
import Synchronization

/// A thread that runs the jobs of an actor, and sleeps while there are none: the least that an event loop does.
final class LoopThread: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
    }

    private let state = Mutex(State())
    private let wakeup = DispatchSemaphore(value: 0)

    func start() {
        // A dispatch queue of its own, whose one block never ends, is a thread.
        DispatchQueue(label: "loop").async {
            while true {
                self.wakeup.wait()
                let jobs = self.state.withLock { state in
                    let jobs = state.jobs
                    state.jobs.removeAll(keepingCapacity: true)
                    return jobs
                }
                for job in jobs {
                    job.runSynchronously(
                        isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor()
                    )
                }
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        if isFirst { wakeup.signal() }
    }
}

/// An actor on the global executor.
actor Ordinary {
    private var count = 0
    func add() -> Int {
        count += 1
        return count
    }
}

/// An actor on a thread of its own.
actor OnLoop {
    private let loop: LoopThread
    private var count = 0
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: LoopThread) { self.loop = loop }

    func add() -> Int {
        count += 1
        return count
    }
}

@main
enum ExecutorHop {
    private static let rounds = 100_000

    static func main() async {
        let loop = LoopThread()
        loop.start()
        let (ordinary, onLoop) = (Ordinary(), OnLoop(loop))
        // Detached: the main thread wakes more slowly.
        await Task.detached {
            await report("call of an actor on the same executor") { _ = await ordinary.add() }
            await report("call of an actor on a thread of its own, from the global executor") {
                _ = await onLoop.add()
            }
            await report("wait for another thread to resume a continuation") {
                await withCheckedContinuation { continuation in
                    Task(executorPreference: loop) { continuation.resume() }
                }
            }
        }.value
        await Task(executorPreference: loop) {
            await report("call of an actor on the thread of the task") { _ = await onLoop.add() }
        }.value
    }

    private static func report(
        _ what: String, _ body: @Sendable () async -> Void
    ) async {
        for _ in 0..<100 { await body() }
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<rounds { await body() }
        let (seconds, attoseconds) = (clock.now - start).components
        let micros = (Double(seconds) + Double(attoseconds) / 1e18) / Double(rounds) * 1e6
        print("{\"what\": \"\(what)\", \"value\": \(micros), \"unit\": \"us\"}")
    }
}
