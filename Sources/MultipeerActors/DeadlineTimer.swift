import MultipeerCore
import MultipeerTransport

/// Calls a system on the session's loop, when a deadline of its exchange has come or something was decided elsewhere. The
/// loop keeps this, and not the system.
final class DeadlineTimer: LoopClient {
    private struct State {
        weak var system: PeerActorSystem?
        var moment: Moment?
        /// The earliest that was asked for and has not come: who asks for later meanwhile has asked long ago.
        var earliest: Moment?
        var isRung = false
    }

    nonisolated let wakeup = Wakeup()
    private let loop: EventLoop
    private let state = Locked(State())

    init(_ loop: EventLoop) { self.loop = loop }

    func belong(to system: PeerActorSystem) { state.withLock { $0.system = system } }

    /// From any thread.
    func set(_ moment: Moment) {
        let isSooner = state.withLock { state in
            if let earliest = state.earliest, earliest <= moment { return false }
            (state.moment, state.earliest) = (moment, moment)
            return true
        }
        if isSooner { loop.wake(self) }
    }

    /// From any thread: something was decided.
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
