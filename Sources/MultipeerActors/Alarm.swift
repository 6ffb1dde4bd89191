import MultipeerIntroduction
import MultipeerTransport

/// Calls a system when a deadline of its exchange has come. The loop keeps this, and not the system.
final class Alarm: LoopClient {
    private struct State {
        weak var system: PeerActorSystem?
        var moment: Moment?
        /// The earliest that was asked for and has not come: who asks for later meanwhile has asked long ago.
        var earliest: Moment?
    }

    nonisolated let poke = Poke()
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

    func poked() {
        guard let moment = state.withLock({ $0.moment.take() }) else { return }
        loop.setDeadline(self, moment)
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
