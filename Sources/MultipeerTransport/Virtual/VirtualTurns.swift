import MultipeerCore
import Synchronization

/// How a loop in virtual time comes to its turns: one is asked for at most once at a time.
final class VirtualTurns: Sendable {
    private struct State {
        weak var loop: EventLoop?
        /// The earliest moment that is planned and has not come.
        var planned = Moment.distantFuture
    }

    private let time: VirtualTime
    private let isAhead = Atomic(false)
    private let state = Locked(State())

    init(of time: VirtualTime) { self.time = time }

    func belong(to loop: EventLoop) { state.withLock { $0.loop = loop } }

    /// Asks for a turn soon. From any thread; from any but the one of the time, the run is worth nothing.
    func request() {
        if !isAhead.exchange(true, ordering: .acquiringAndReleasing) { time.request(self) }
    }

    /// Asks for a turn at that moment, if none is planned before it.
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
