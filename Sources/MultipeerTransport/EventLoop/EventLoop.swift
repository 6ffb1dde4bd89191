import CPlatform
package import MultipeerCore
import MultipeerPlatform
import Synchronization

/// One thread that waits for sockets, deadlines and jobs, and runs the actors that are pinned to it.
///
/// A turn: events of the sockets → deadlines → wakeups and jobs, in a bounded number of rounds → ends of turn, which
/// come between many jobs, too. Actors name the loop as their executor; its calls enter them through
/// `assumeIsolated`, and a job of theirs never meets another. Everything but `wake`, `enqueue` and `shutdown` is for
/// the loop's own thread.
package final class EventLoop: SerialExecutor, Sendable {
    /// Rounds of jobs before the sockets are polled again: each saves a system call, too many would starve them.
    private static let rounds = 8
    /// Jobs after which their output is sent: a peer that answers a thousand calls lets the caller go on with the first;
    /// otherwise both would take turns waiting for each other's thousand.
    private static let burst = 64

    /// Runs tasks on the loop's thread that belong to no actor of it.
    package let taskExecutor: LoopTaskExecutor
    /// The simulated machine whose network the loop has; nil for the network of this one.
    package let host: VirtualHost?

    private let queue: LoopQueue
    private let thread = Atomic<UInt>(0)
    private let handle = Locked<UInt?>(nil)
    /// Thread rule: only the loop's thread reads it; `state` checks that, and the thread starts after it is set.
    private nonisolated(unsafe) let unguardedState: LoopState

    /// Starts the thread. The creator of a loop ends it with `shutdown`; most callers take one of the pool with `next`.
    /// `yielding`: the thread runs with lower priority.
    package init(threadName: String = "multipeer-loop", yielding: Bool = false) throws(SocketFault) {
        queue = try LoopQueue()
        unsafe unguardedState = try LoopState(waker: queue.threadWaker)
        taskExecutor = LoopTaskExecutor(queue)
        host = nil
        let started = try LoopThread.start(threadName) { [self] in
            if yielding { LoopThread.yield() }
            run()
        }
        handle.withLock { $0 = started }
    }

    /// Creates a loop in virtual time, whose turns are taken on its thread; with the sockets of that simulated machine, if any.
    init(in time: VirtualTime, on host: VirtualHost?) {
        let turns = VirtualTurns(of: time)
        queue = LoopQueue(turns)
        unsafe unguardedState = LoopState(of: host, at: time.now)
        taskExecutor = LoopTaskExecutor(queue)
        self.host = host
        turns.belong(to: self)
        _ = queue.fallAsleep()
    }

    /// Ends the thread when it has done its pending work, and waits for that unless called on it. Once is enough.
    ///
    /// The clients are released. An actor of the loop must no longer be called: a later job is a programming error.
    package func shutdown() {
        queue.stop()
        let joined = handle.withLock { $0.take() }
        guard let joined else { return }
        if isOnLoop { multipeer_detach_thread(joined) } else { multipeer_join_thread(joined) }
    }

    /// Whether this is the loop's thread.
    package var isOnLoop: Bool { CLibrary.thread == thread.load(ordering: .relaxed) }

    package func enqueue(_ job: consuming ExecutorJob) { queue.submit(.actor(UnownedJob(job))) }

    package func checkIsolated() { precondition(isOnLoop, "this is not the thread of the actor's loop") }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    /// Calls the client's `wokenUp` soon, once for all wakes until then. From any thread.
    package func wake(_ client: any LoopClient) {
        if client.wakeup.raise() { queue.submit(client) }
    }

    /// Returns a closure that wakes the client without keeping it, for a `SendQueue` or an `EventQueue` that the client owns.
    package func waker(for client: any LoopClient) -> @Sendable () -> Void {
        { [weak client] in
            if let client { self.wake(client) }
        }
    }

    /// The same for a client that asks for a closure that does not keep it when it ends. As long as nothing refers to it weakly,
    /// retaining and releasing it takes a third of the time.
    package func waker(keeping client: any LoopClient) -> @Sendable () -> Void {
        { self.wake(client) }
    }

    /// The same for what the client takes only at the end of a turn. On the loop's thread a turn is being taken: its end is all
    /// that has to be requested, and `wokenUp` is not called.
    package func turnEndWaker(keeping client: any LoopClient) -> @Sendable () -> Void {
        { if self.isOnLoop { self.wantsTurnEnd(client) } else { self.wake(client) } }
    }

    /// The time at the start of the turn.
    package var now: Moment { state.now }

    /// The time now, from any thread; in virtual time on a thread that has one.
    package static func currentMoment() -> Moment {
        if let time = VirtualTime.current { return time.now }
        var time = timespec()
        unsafe clock_gettime(SystemCalls.clock, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// Only for the loop's thread.
extension EventLoop {
    /// Watches a descriptor for a client, which gets `token` back, until it is deregistered. It must not be closed first.
    package func register(
        _ descriptor: Int32, for client: any LoopClient, token: Int, interest: Readiness
    ) throws(SocketFault) {
        try state.register(descriptor, for: client, token: token, interest: interest)
    }

    package func setInterest(_ descriptor: Int32, _ interest: Readiness) throws(SocketFault) {
        try state.setInterest(descriptor, interest)
    }

    /// Stops watching: no further event of the descriptor is delivered, not even one that was found already.
    package func deregister(_ descriptor: Int32) { state.deregister(descriptor) }

    /// Sets the only deadline of a client; nil removes it.
    package func setDeadline(_ client: any LoopClient, _ deadline: Moment?) {
        state.registry.setDeadline(of: client, deadline ?? .distantFuture)
    }

    /// Calls the client's `turnEnded` at the end of this turn, or of the next one when requested in `turnEnded`.
    package func wantsTurnEnd(_ client: any LoopClient) { state.registry.touch(client) }

    /// Notes that the client has taken small messages that other threads queued. If they keep coming, the loop looks for them by
    /// itself for a moment before it sleeps.
    package func tookMessages(_ client: any LoopClient) { state.tookMessages(client) }

    /// What the clients read into. They keep it: with the last of them its memory is released.
    var buffers: LoopBuffers { state.sharedBuffers() }

    private var state: LoopState {
        checkIsolated()
        return unsafe unguardedState
    }

    private func run() {
        thread.store(CLibrary.thread, ordering: .relaxed)
        let state = state
        var work = LoopQueue.Work()
        repeat {
            takeTurn(state, &work, wait(state))
        } while !queue.finish()
        state.close()
        thread.store(0, ordering: .relaxed)
    }

    /// Returns how the next turn waits.
    private func wait(_ state: LoopState) -> LoopState.Wait {
        if state.registry.hasTouched { return .no }
        if let client = state.burst.client { return queue.beginLooking(for: client) ? .briefly : .no }
        return queue.fallAsleep() ? .untilWoken : .no
    }

    /// Takes a turn, after having waited for work.
    private func takeTurn(_ state: LoopState, _ work: inout LoopQueue.Work, _ wait: LoopState.Wait) {
        let events = state.wait(wait)
        // Events queue work for a loop that is awake: no wakeup is necessary.
        queue.wakeUp()
        state.deliver(events)
        state.deliverDeadlines()
        var round = 0
        while round < EventLoop.rounds && perform(&work) { round += 1 }
        state.endTurn()
        state.noteTurn(after: wait)
    }

    /// In virtual time, releases the clients, whose sockets and deadlines no longer have an effect.
    func letGo() {
        thread.store(CLibrary.thread, ordering: .relaxed)
        defer { thread.store(0, ordering: .relaxed) }
        state.close()
    }

    /// Requests a turn in virtual time: a socket of the machine has changed.
    func requestVirtualTurn() { queue.turns?.request() }

    /// Takes one turn in virtual time, and requests the next one.
    func takeVirtualTurn() {
        thread.store(CLibrary.thread, ordering: .relaxed)
        defer { thread.store(0, ordering: .relaxed) }
        let state = state
        var work = LoopQueue.Work()
        takeTurn(state, &work, .no)
        let isIdle = queue.fallAsleep() && !state.registry.hasTouched && !state.hasEvents
        if isIdle {
            queue.turns?.request(at: state.registry.earliestDeadline())
        } else {
            queue.turns?.request()
        }
    }

    /// Performs the work. Returns whether there was any.
    private func perform(_ work: inout LoopQueue.Work) -> Bool {
        queue.take(&work)
        if work.isEmpty { return false }
        deliver(&work.wakeups)
        if !work.jobs.isEmpty { state.hadOtherWork() }
        for index in work.jobs.indices {
            run(work.jobs[index])
            if index % EventLoop.burst == EventLoop.burst - 1 {
                queue.take(&work.wakeups)
                deliver(&work.wakeups)
                state.endTurn()
            }
        }
        work.jobs.removeAll(keepingCapacity: true)
        return true
    }

    private func deliver(_ wakeups: inout [any LoopClient]) {
        for client in wakeups { state.deliverWakeup(to: client) }
        wakeups.removeAll(keepingCapacity: true)
    }

    private func run(_ job: LoopQueue.Job) {
        switch job {
        case .actor(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        case .task(let job): unsafe job.runSynchronously(on: taskExecutor.asUnownedTaskExecutor())
        }
    }
}
