import Multipeer
import MultipeerTransport

/// One run of an advertiser or a browser, from a start to the next stop.
protocol NearbyRun: AnyObject, Sendable {
    /// Throws when it could not be started; then nothing is left over.
    func start() async throws(MultipeerError)
    func stop() async
}

/// Applies the latest request in the background: a caller that starts or stops never waits.
///
/// One operation runs at a time. A start that a stop overtakes may never happen; then nothing is reported of it.
final class NearbyRuns<Run: NearbyRun>: Sendable {
    private struct State {
        var wanted: Run?
        /// The run that is active or being started.
        var current: Run?
        var isWorking = false
        /// Callers that wait until no operation is left.
        var resting: [Promise<Void>] = []
    }

    private enum Step {
        case start(Run)
        case stop(Run)
    }

    let callbacks: CallbackQueue
    private let state = Locked(State())
    private let failed: @Sendable (MCError) -> Void

    /// Creates it; `failed` is called on the queue when a run that is still wanted could not be started.
    init(_ callbacks: CallbackQueue, failed: @escaping @Sendable (MCError) -> Void) {
        self.callbacks = callbacks
        self.failed = failed
    }

    /// Starts a run, unless there is one. No callback is made before this has returned.
    func start(_ make: () -> Run) {
        let queue = callbacks.queue
        queue.suspend()
        defer { queue.resume() }
        if state.withLock({ $0.wanted != nil }) { return }
        let run = make()
        want { if $0 == nil { $0 = run } }
    }

    /// Starts a run for a service type; reports that there can be none when the type is not valid.
    func start(of type: Result<ServiceType, MCError>, _ make: (ServiceType) -> Run) {
        switch type {
        case .success(let type): start { make(type) }
        case .failure(let error): refuse(error)
        }
    }

    /// Reports that there can be no run. No callback is made before this has returned.
    private func refuse(_ error: MCError) {
        let queue = callbacks.queue
        queue.suspend()
        defer { queue.resume() }
        callbacks.async { [failed] in failed(error) }
    }

    /// Stops the run, which reports nothing from here on, except in a call that is under way.
    func stop() { want { $0 = nil } }

    /// Returns once all requests were carried out: stopped runs have sent their goodbyes.
    func rest() async {
        let signal = Promise<Void>()
        let isWorking = state.withLock { state in
            if state.isWorking { state.resting.append(signal) }
            return state.isWorking
        }
        if isWorking { await signal.value() }
    }

    /// Returns whether the run was not stopped.
    func isWanted(_ run: Run) -> Bool { state.withLock { $0.wanted === run } }

    private func want(_ change: (inout Run?) -> Void) {
        let (begins, former) = state.withLock { state in
            let former = state.wanted
            change(&state.wanted)
            let begins = !state.isWorking && state.wanted !== state.current
            if begins { state.isWorking = true }
            return (begins, former)
        }
        // The former run may be deallocated here, and not while the lock is held.
        withExtendedLifetime(former) {}
        if begins { Task { await self.work() } }
    }

    private func work() async {
        while let step = next() {
            switch step {
            case .stop(let run): await run.stop()
            case .start(let run):
                do throws(MultipeerError) {
                    try await run.start()
                } catch {
                    giveUp(run, MCError(error))
                }
            }
        }
    }

    private func next() -> Step? {
        let (step, rested) = state.withLock { state -> (Step?, [Promise<Void>]) in
            if state.wanted === state.current {
                state.isWorking = false
                defer { state.resting = [] }
                return (nil, state.resting)
            }
            if let current = state.current {
                state.current = nil
                return (.stop(current), [])
            }
            state.current = state.wanted
            return (state.wanted.map(Step.start), [])
        }
        for signal in rested { signal.send(()) }
        return step
    }

    private func giveUp(_ run: Run, _ error: MCError) {
        let isWanted = state.withLock { state in
            state.current = nil
            guard state.wanted === run else { return false }
            state.wanted = nil
            return true
        }
        if isWanted { callbacks.async { [failed] in failed(error) } }
    }
}
