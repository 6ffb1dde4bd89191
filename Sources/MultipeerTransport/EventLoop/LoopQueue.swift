/// The requests of other threads to a loop, and the wakeup of a sleeping one.
final class LoopQueue: Sendable {
    /// A job and the executor under whose name it has to run.
    enum Job {
        case actor(UnownedJob)
        case task(UnownedJob)
    }

    /// Everything that was waiting at one moment.
    struct Work {
        var jobs: [Job] = []
        var wakeups: [any LoopClient] = []
        var isEmpty: Bool { jobs.isEmpty && wakeups.isEmpty }
    }

    private struct State {
        var work = Work()
        var isAsleep = false
        /// For whose wakeups a loop that waits looks by itself in a moment.
        var lookingFor: ObjectIdentifier?
        var isStopping = false
        var isStopped = false

        /// Returns whether the loop has to be woken: only for a loop that waits, once, and not for what it looks for by itself.
        mutating func awaken(for client: ObjectIdentifier? = nil) -> Bool {
            if lookingFor != nil, lookingFor == client { return false }
            defer { wakeUp() }
            return isAsleep || lookingFor != nil
        }

        mutating func wakeUp() {
            isAsleep = false
            lookingFor = nil
        }
    }

    private enum Waker {
        case thread(LoopWaker)
        case turns(VirtualTurns)
    }

    private let state = Locked(State())
    private let waker: Waker

    /// Creates the queue of a loop with a thread, and what wakes that.
    init() throws(SocketFault) {
        waker = .thread(try LoopWaker())
    }

    /// Creates the queue of a loop in virtual time, where waking requests a turn.
    init(_ turns: VirtualTurns) { waker = .turns(turns) }

    deinit { if case .thread(let waker) = waker { waker.close() } }

    /// What wakes the loop's thread; nil in virtual time.
    var threadWaker: LoopWaker? { if case .thread(let waker) = waker { waker } else { nil } }

    /// Nil for a loop with a thread of its own.
    var turns: VirtualTurns? { if case .turns(let turns) = waker { turns } else { nil } }

    func submit(_ job: Job) {
        let wakes = state.withLock { state in
            precondition(!state.isStopped, "a job for a loop that was shut down")
            state.work.jobs.append(job)
            return state.awaken()
        }
        if wakes { wakeLoop() }
    }

    /// Adds a wakeup, which is dropped once the loop was shut down.
    func submit(_ client: any LoopClient) {
        let wakes = state.withLock { state in
            if state.isStopped { return false }
            state.work.wakeups.append(client)
            return state.awaken(for: ObjectIdentifier(client))
        }
        if wakes { wakeLoop() }
    }

    func stop() {
        let wakes = state.withLock { state in
            state.isStopping = true
            return state.awaken()
        }
        if wakes { wakeLoop() }
    }

    /// Swaps the waiting work with the emptied work of the last time, whose memory is reused.
    func take(_ work: inout Work) {
        state.withLock { swap(&$0.work, &work) }
    }

    /// Swaps the wakeups that are waiting with an emptied list.
    func take(_ wakeups: inout [any LoopClient]) {
        state.withLock { swap(&$0.work.wakeups, &wakeups) }
    }

    /// Returns whether nothing is waiting, so that the loop may sleep until it is woken.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.work.isEmpty && !state.isStopping
            return state.isAsleep
        }
    }

    /// Returns whether nothing is waiting, so that the loop may wait for a moment: wakeups of this client do not end that.
    func beginLooking(for client: ObjectIdentifier) -> Bool {
        state.withLock { state in
            if !state.work.isEmpty || state.isStopping { return false }
            state.lookingFor = client
            return true
        }
    }

    /// Notes that the loop is awake: it will check for work before it sleeps again.
    func wakeUp() { state.withLock { $0.wakeUp() } }

    /// Returns whether the loop was asked to stop and has no work left. From then on no job is accepted.
    func finish() -> Bool {
        state.withLock { state in
            state.isStopped = state.isStopping && state.work.isEmpty
            return state.isStopped
        }
    }

    private func wakeLoop() {
        switch waker {
        case .thread(let waker): waker.wake()
        case .turns(let turns): turns.request()
        }
    }
}
