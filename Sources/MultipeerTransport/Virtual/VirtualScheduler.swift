import MultipeerCore

/// The steps of virtual time, their order, and its progress.
struct VirtualScheduler {
    enum Step: Sendable {
        /// A part of a task.
        case job(UnownedJob)
        case turn(VirtualTurns)
        /// A planned call.
        case call(@Sendable () -> Void)
        /// A sleep has ended.
        case wake(Promise<Bool>)
    }

    private enum Phase {
        case waiting
        /// A thread is about to begin.
        case prepared
        case running
        /// The body has returned: only the ready steps are performed.
        case ending
        case over
        /// A thread performs what came after the end.
        case leftovers
        /// The run was stopped and did not become quiescent: its tasks are abandoned.
        case abandoned
    }

    /// How many steps a stopped run may take to become quiescent.
    private static let grace = 100_000

    private(set) var now: Moment
    private(set) var steps = 0
    private(set) var stopReason: VirtualTime.StopReason?

    private var phase = Phase.waiting
    private var limits = VirtualTime.Limits(duration: .zero, steps: 0)
    private var ready = StepQueue()
    private var planned = VirtualTimers()
    private var randomness: Jitter

    init(seed: UInt64, now: Moment) {
        randomness = Jitter(seed: seed)
        self.now = now
    }

    mutating func random() -> UInt64 { randomness.next() }

    mutating func plan(_ step: Step, at moment: Moment) {
        if phase != .abandoned { planned.add(step, at: max(moment, now)) }
    }

    mutating func takePlanned() -> VirtualTimers {
        defer { planned = VirtualTimers() }
        return planned
    }

    /// Returns whether the run is over and a thread is needed for the steps after it. The second parameter is the name of the
    /// submitting thread, if that is not the simulation's own.
    mutating func submit(_ step: Step, from stranger: String?) -> Bool {
        if phase == .abandoned { return false }
        ready.append(step)
        if let stranger, phase == .running { stop(.wokenFromOutside(thread: stranger)) }
        guard phase == .over else { return false }
        phase = .leftovers
        return true
    }

    // MARK: the run

    mutating func prepare(_ limits: VirtualTime.Limits) -> Bool {
        guard phase == .waiting else { return false }
        self.limits = limits
        phase = .prepared
        return true
    }

    mutating func bodyReturned() { if phase == .running { phase = .ending } }

    mutating func stop(_ reason: VirtualTime.StopReason) {
        guard stopReason == nil, phase == .running || phase == .prepared else { return }
        stopReason = reason
        limits.steps = steps + VirtualScheduler.grace
        limits.duration = .seconds(Int64.max / 2)
    }

    /// Returns the next step; nil at the end. Time passes here and nowhere else.
    mutating func next() -> Step? {
        if phase == .prepared { phase = .running }
        guard steps < limits.steps else { return endOrGoOn(.outOfSteps) }
        steps += 1
        if let step = ready.popFirst() { return step }
        guard phase == .running else { return nil }
        guard let (moment, step) = planned.popFirst() else { return endOrGoOn(.stuck) }
        guard moment - VirtualTime.start <= limits.duration else {
            planned.add(step, at: moment)
            return endOrGoOn(.outOfTime)
        }
        now = max(now, moment)
        return step
    }

    /// The first stop reason lets the body come to its end. It is abandoned at a second one.
    private mutating func endOrGoOn(_ reason: VirtualTime.StopReason) -> Step? {
        if stopReason == nil, phase == .running {
            stop(reason)
            return .call({})
        }
        stopReason = stopReason ?? reason
        phase = .abandoned
        return nil
    }

    /// Ends the run. Returns why it was stopped, if it was, and whether a thread is needed for what came since.
    mutating func end() -> (stopReason: VirtualTime.StopReason?, needsThread: Bool) {
        if phase == .ending { phase = ready.isEmpty ? .over : .leftovers }
        return (stopReason, phase == .leftovers)
    }

    mutating func nextLeftover() -> Step? {
        if let step = ready.popFirst() { return step }
        phase = .over
        return nil
    }
}

/// First in, first out.
private struct StepQueue {
    private var front: ArraySlice<VirtualScheduler.Step> = []
    private var back: [VirtualScheduler.Step] = []

    var isEmpty: Bool { front.isEmpty && back.isEmpty }

    mutating func append(_ step: VirtualScheduler.Step) { back.append(step) }

    mutating func popFirst() -> VirtualScheduler.Step? {
        if front.isEmpty {
            front = back[...]
            back = []
        }
        return front.popFirst()
    }
}
