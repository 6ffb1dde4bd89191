import CPlatform
package import MultipeerCore

/// One thread and a clock that stands still while any step is ready, and then jumps to the next planned event. A run depends only
/// on its seed.
///
/// ```
/// waiting ──run──▶ running ──the body returned, or a stopReason──▶ over
/// ```
///
/// It is a task executor: tasks that prefer it, their children and the default actors that they call run on its thread,
/// in the order in which they became ready. Loops made for it take their turns there. On its thread
/// `EventLoop.currentMoment` is its time, `SystemRandomness` its seed, and `Task.following` begins tasks that prefer it.
package final class VirtualTime: TaskExecutor, Sendable {
    /// Where its clock begins.
    package static let start = Moment(nanoseconds: 3_600_000_000_000)

    private let state: Locked<VirtualScheduler>
    private let files = Locked<EventLoop?>(nil)

    package init(seed: UInt64) { state = Locked(VirtualScheduler(seed: seed, now: VirtualTime.start)) }

    /// The virtual time of this thread; nil on every other thread.
    package static var current: VirtualTime? {
        // Set by `occupying` alone, which keeps the object for as long as it is.
        guard let pointer = unsafe multipeer_virtual_time() else { return nil }
        return unsafe Unmanaged<VirtualTime>.fromOpaque(pointer).takeUnretainedValue()
    }

    package var isCurrent: Bool { VirtualTime.current === self }

    package var now: Moment { state.withLock { $0.now } }

    /// The elapsed virtual time.
    package var elapsed: Duration { now - VirtualTime.start }

    /// The number of jobs, turns and planned calls so far.
    package var steps: Int { state.withLock { $0.steps } }

    /// Returns the next random number of its seed.
    package func random() -> UInt64 { state.withLock { $0.random() } }

    package func enqueue(_ job: consuming ExecutorJob) { submit(.job(UnownedJob(job))) }

    /// Calls `body` on the thread when the moment has come.
    package func at(_ moment: Moment, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.plan(.call(body), at: moment) }
    }

    package func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.plan(.call(body), at: $0.now + delay) }
    }

    /// Returns at that moment of virtual time. Throws `CancellationError` when the task is cancelled first.
    package func sleep(until moment: Moment) async throws {
        let signal = Promise<Bool>()
        state.withLock { $0.plan(.wake(signal), at: moment) }
        let hasPassed = await signal.value(onCancel: { signal.send(false) })
        if !hasPassed { throw CancellationError() }
    }
}

// MARK: loops

extension VirtualTime {
    /// Requests a turn of the loop.
    func request(_ turns: VirtualTurns) { submit(.turn(turns)) }

    /// Plans a call of the loop at that moment.
    func plan(_ turns: VirtualTurns, at moment: Moment) {
        state.withLock { $0.plan(.turn(turns), at: moment) }
    }

    /// The loop for file I/O, which is performed at once here: no time passes.
    var fileLoop: EventLoop {
        if let loop = files.withLock({ $0 }) { return loop }
        let fresh = EventLoop(in: self, on: nil)
        files.withLock { $0 = fresh }
        return fresh
    }

    /// Calls `body` on the thread, as soon as its turn comes, unless the run was abandoned.
    func perform(_ body: @escaping @Sendable () -> Void) { submit(.call(body)) }

    private func submit(_ step: VirtualScheduler.Step) {
        let stranger = isCurrent ? nil : VirtualTime.threadName()
        let needsThread = state.withLock { $0.submit(step, from: stranger) }
        if needsThread { finishOff() }
    }

    private static func threadName() -> String {
        var name = [CChar](repeating: 0, count: 16)
        unsafe multipeer_get_thread_name(&name)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

// MARK: running

extension VirtualTime {
    /// How far a run may go before it is stopped.
    package struct Limits: Sendable {
        /// Virtual time.
        package var duration: Duration
        /// Jobs, turns and planned calls.
        package var steps: Int

        package init(duration: Duration, steps: Int) { (self.duration, self.steps) = (duration, steps) }
    }

    /// Why a run was ended before its body returned, or is not valid.
    package enum StopReason: Error, Hashable, Sendable {
        /// Nothing can run, and nothing is planned.
        case stuck
        case outOfTime
        case outOfSteps
        /// A step was made ready on another thread, of that name.
        case wokenFromOutside(thread: String)
        /// The task that runs it was cancelled.
        case cancelled
        /// A virtual time runs only once.
        case ranBefore
    }

    /// Runs `body` and everything that follows from it, and returns when it has returned and nothing is ready.
    /// Returns why it was stopped, if it was: then `onStop` was called, the body was cancelled, and it may not have returned.
    ///
    /// It runs on a thread of its own, so that a test framework may run others meanwhile.
    package func run(
        within limits: Limits, onStop: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable () async -> Void
    ) async throws(SocketFault) -> StopReason? {
        guard state.withLock({ $0.prepare(limits) }) else { return .ranBefore }
        let task = Task(executorPreference: self) {
            await body()
            self.state.withLock { $0.bodyReturned() }
        }
        let ended = Promise<StopReason?>()
        try LoopThread.startDetached("multipeer-sim") { [self] in
            occupying {
                pump {
                    onStop()
                    task.cancel()
                }
            }
            let (stopReason, needsThread) = state.withLock { $0.end() }
            if needsThread { finishOff() }
            ended.send(stopReason)
        }
        return await ended.value(onCancel: { state.withLock { $0.stop(.cancelled) } })
    }

    private func pump(onStop: () -> Void) {
        var isStopped = false
        while let step = state.withLock({ $0.next() }) {
            perform(step)
            guard !isStopped, state.withLock({ $0.stopReason != nil }) else { continue }
            isStopped = true
            onStop()
        }
    }

    /// Performs steps that become ready when the run is over, as the end of its remains, at once; time no longer passes.
    private func finishOff() {
        Task.detached { [self] in
            occupying {
                while let step = state.withLock({ $0.nextLeftover() }) { perform(step) }
            }
        }
    }

    /// Makes this the thread of this time for the duration of `body`.
    func occupying(_ body: () -> Void) {
        unsafe multipeer_set_virtual_time(Unmanaged.passUnretained(self).toOpaque())
        defer { multipeer_set_virtual_time(nil) }
        withExtendedLifetime(self) { body() }
    }

    private func perform(_ step: VirtualScheduler.Step) {
        switch step {
        case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        case .turn(let turns): turns.take()
        case .call(let body): body()
        case .wake(let sleeper): sleeper.send(true)
        }
    }

    /// Releases everything that was planned. A task that still sleeps will not wake by itself.
    package func dismantle() {
        let loop = files.withLock { $0.take() }
        withExtendedLifetime(loop) {}
        for case .wake(let sleeper) in state.withLock({ $0.takePlanned().steps }) { sleeper.send(false) }
    }
}
