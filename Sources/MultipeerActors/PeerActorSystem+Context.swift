import Multipeer
public import MultipeerCore
import MultipeerTransport

/// What belongs to a call and everything that is called for it.
struct CallContext: Sendable {
    /// The soonest that was set, here or where the call comes from.
    var deadline: Moment?
    /// Whether one was set here, in the place of the system's own.
    var isLimited = false
    var caller: PeerID?
    /// How many calls of peers a call that is made now is made for, one within the other.
    var depth: UInt8 = 0

    /// When a call that is made now has to be over. A peer's call may leave less time for it, and never more.
    func deadline(within timeout: Duration?, at now: Moment) -> Moment? {
        guard !isLimited, let timeout else { return deadline }
        return min(deadline ?? .distantFuture, now + timeout)
    }
}

extension PeerActorSystem {
    @TaskLocal static var context: CallContext?

    /// The peer whose call the current task executes; nil outside of such a call.
    public static var caller: PeerID? { context?.caller }

    /// Whether the time of the call that the current task executes is over.
    static var isOverdue: Bool { context?.deadline.map { $0 <= EventLoop.currentMoment() } ?? false }

    /// Limits the time of every call of an actor at a peer that `body` makes, and of the calls these make in turn: it is
    /// over that long from now. A limit that holds already and is sooner stays.
    ///
    /// A call that takes longer throws `timedOut`, and its method's task is cancelled.
    public static func withTimeout<Value>(
        _ timeout: Duration, _ body: () async throws -> Value
    ) async rethrows -> Value {
        var context = context ?? CallContext()
        let deadline = EventLoop.currentMoment() + timeout
        context.deadline = min(context.deadline ?? deadline, deadline)
        context.isLimited = true
        return try await $context.withValue(context) { try await body() }
    }
}
