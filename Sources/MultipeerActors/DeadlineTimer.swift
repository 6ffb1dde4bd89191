import MultipeerCore
import MultipeerTransport

/// Calls a system on the session's loop when a deadline of its exchange has passed, or after a decision on another
/// thread. The loop retains the timer, and not the system.
final class DeadlineTimer: LoopClient {
    private struct State {
        weak var system: PeerActorSystem?
        var moment: Moment?
        /// The earliest moment that was requested and has not passed; requests for later ones change nothing.
        var earliest: Moment?
        var isRung = false
    }

    nonisolated let wakeup = Wakeup()
    private let loop: EventLoop
    private let state = Locked(State())

    init(_ loop: EventLoop) { self.loop = loop }

    func belong(to system: PeerActorSystem) { state.withLock { $0.system = system } }

    /// Requests a call at that moment; from any thread.
    func set(_ moment: Moment) {
        let isSooner = state.withLock { state in
            if let earliest = state.earliest, earliest <= moment { return false }
            (state.moment, state.earliest) = (moment, moment)
            return true
        }
        if isSooner { loop.wake(self) }
    }

    /// Requests a call now, since something was decided; from any thread.
    func wake() {
        let isFirst = state.withLock { state in
            defer { state.isRung = true }
            return !state.isRung
        }
        if isFirst { loop.wake(self) }
    }

    func wokenUp() {
        let (moment, system) = state.withLock { state in
            defer { state.isRung = false }
            return (state.moment.take(), state.isRung ? state.system : nil)
        }
        if let moment { loop.setDeadline(self, moment) }
        system?.carryOut()
    }

    func deadlineReached() {
        let system = state.withLock { state in
            state.earliest = nil
            return state.system
        }
        system?.advance()
    }
    func ready(_ token: Int, _ readiness: Readiness) {}
    func turnEnded() {}
}
