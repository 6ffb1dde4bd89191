import MultipeerCore
import Synchronization

/// Schedules the turns of a loop in virtual time: at most one request is pending at a time.
final class VirtualTurns: Sendable {
    private struct State {
        weak var loop: EventLoop?
        /// The earliest planned moment that has not come.
        var planned = Moment.distantFuture
    }

    private let time: VirtualTime
    private let isAhead = Atomic(false)
    private let state = Locked(State())

    init(of time: VirtualTime) { self.time = time }

    func belong(to loop: EventLoop) { state.withLock { $0.loop = loop } }

    /// Requests a turn soon. From any thread; from any other than that of the time, it makes the run invalid.
    func request() {
        if !isAhead.exchange(true, ordering: .acquiringAndReleasing) { time.request(self) }
    }

    /// Requests a turn at that moment, if none is planned before it.
    func request(at moment: Moment) {
        let isNew = state.withLock { state in
            if moment == .distantFuture || state.planned <= moment { return false }
            state.planned = moment
            return true
        }
        if isNew { time.plan(self, at: moment) }
    }

    /// On the thread of the time.
    func take() {
        isAhead.store(false, ordering: .releasing)
        let now = time.now
        let loop = state.withLock { state in
            if state.planned <= now { state.planned = .distantFuture }
            return state.loop
        }
        loop?.takeVirtualTurn()
    }
}
