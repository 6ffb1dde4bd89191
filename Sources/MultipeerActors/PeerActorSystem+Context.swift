import Multipeer
public import MultipeerCore
import MultipeerTransport

/// The state that a call shares with all calls made for it.
struct CallContext: Sendable {
    /// The earliest deadline that was set, here or by the calling peer.
    var deadline: Moment?
    /// Whether one was set here, which replaces the system's default.
    var isLimited = false
    var caller: PeerID?
    /// The number of nested peer calls within which a new call would be made.
    var depth: UInt8 = 0

    /// Returns the deadline of a call that is made now. A peer's call may leave less time for it, and never more.
    func deadline(within timeout: Duration?, at now: Moment) -> Moment? {
        guard !isLimited, let timeout else { return deadline }
        return min(deadline ?? .distantFuture, now + timeout)
    }
}

extension PeerActorSystem {
    @TaskLocal static var context: CallContext?

    /// The peer whose call the current task executes; nil outside of such a call.
    public static var caller: PeerID? { context?.caller }

    /// Whether the deadline of the call that the current task executes has passed.
    static var isOverdue: Bool { context?.deadline.map { $0 <= EventLoop.currentMoment() } ?? false }

    /// Limits the time of every call of a remote actor that `body` makes, and of the calls these make in turn, to that duration
    /// from now. An earlier deadline that already applies stays.
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
