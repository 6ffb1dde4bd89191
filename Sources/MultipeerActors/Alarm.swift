import MultipeerIntroduction
import MultipeerTransport

/// Calls a system when a deadline of its exchange has come. The loop keeps this, and not the system.
final class Alarm: LoopClient {
    private struct State {
        weak var system: PeerActorSystem?
        var moment: Moment?
    }

    nonisolated let poke = Poke()
    private let loop: EventLoop
    private let state = Locked(State())

    init(_ loop: EventLoop) { self.loop = loop }

    func belong(to system: PeerActorSystem) { state.withLock { $0.system = system } }

    /// From any thread.
    func set(_ moment: Moment) {
        state.withLock { $0.moment = moment }
        loop.wake(self)
    }

    func poked() {
        guard let moment = state.withLock({ $0.moment.take() }) else { return }
        loop.setDeadline(self, moment)
    }

    func deadlineReached() { state.withLock({ $0.system })?.advance() }
    func ready(_ token: Int, _ readiness: Readiness) {}
    func turnEnded() {}
}
