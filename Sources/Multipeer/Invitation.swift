public import MultipeerCore
import MultipeerIntroduction
public import MultipeerTransport

/// Somebody asks to be linked with the local peer: answer once, at any time until `timeout` is over, from anywhere.
///
/// Who it is from nothing proves yet: `inviter` and `context` are what somebody on the network says. A session's link
/// proves it, as far as its trust policy asks for that. An invitation that is not answered times out at both ends.
public final class Invitation: Sendable {
    /// Who says that it invites.
    public let inviter: PeerID
    /// What its application says, up to 32 KiB; nil when it says nothing. Read it as what it is, words of a stranger's.
    public let context: [UInt8]?
    /// For how long the inviter waits, from when the invitation came in: 1 to 600 seconds.
    public let timeout: Duration

    private let question: ReceivedInvitation
    private let listener: InvitationListener
    private let isAnswered = Locked(false)

    init(_ question: ReceivedInvitation, to listener: InvitationListener) {
        self.question = question
        self.listener = listener
        inviter = question.inviter
        context = question.context
        timeout = question.timeout
    }

    /// Whether somebody waits for an answer.
    public var isOpen: Bool { !question.ending.isSent && !isAnswered.withLock { $0 } }

    /// Returns when nobody waits for an answer any more: it was given, the inviter gave up, the time is over, or the
    /// advertiser was stopped; or when the task is cancelled. For a window that should not ask any longer.
    public func ended() async { _ = await question.ending.valueUnlessCancelled() }

    /// Says yes, and returns when the inviter is linked in `session`, at once when it was linked there already.
    ///
    /// The link joins the meshes of both sides unless the topology of one is a star. Whether it succeeds or throws, the
    /// invitation is answered, except for `invalidArgument`: the session is of another peer than the advertiser.
    ///
    /// Throws `alreadyAnswered` when there was an answer before; `timedOut` when it comes too late, or no link came of it
    /// in time; `cancelled` when the inviter gave up, the advertiser was stopped or the task is cancelled; `full` when the
    /// session or its mesh has no place left, which the inviter is told; `incompatible` when one side always encrypts and
    /// the other never does, which both sides find; `ended` with the reason when the link could not be made for
    /// another one, also when this session was left; `system` when the session cannot listen.
    public func accept(into session: Session) async throws(MultipeerError) {
        try consent(to: session)
        try await link(in: session).get()
    }

    /// The first half of `accept`, at once: from here on, stopping or letting go of the advertiser takes nothing back.
    ///
    /// Throws `alreadyAnswered`, and `invalidArgument` when the session is of another peer than the advertiser.
    package func consent(to session: Session) throws(MultipeerError) {
        guard session.peer == listener.peer else {
            throw MultipeerError(
                .invalidArgument, "\(listener.peer) was invited, and the session is of \(session.peer)")
        }
        try claim()
    }

    /// The other half, once, with the session of the first. `isMarked`: the session's owner hears when it came to nothing
    /// and no event says so.
    package func link(
        in session: Session, isMarked: Bool = false
    ) async -> Result<Void, MultipeerError> {
        let (inviter, listener, id) = (inviter, listener, question.id)
        let (driver, deadline) = (session.driver, question.deadline)
        return await driver.invitation(of: inviter, isMarked: isMarked) {
            (invitation) async throws(MultipeerError) in
            guard await driver.hasRoom(for: inviter.uid) else {
                try await listener.answering(inviter) { () async throws(InvitationFault) in
                    try await listener.refuse(id, .full)  // [limit.links]
                }
                throw MultipeerError(.full, "there is no place left for \(inviter)")
            }
            let theirs = try await listener.accept(id, from: inviter, as: driver)
            // Longer than the inviter has: what it decides in its last moment still gets here.
            let end = max(deadline, EventLoop.currentMoment() + Invitation.leastPatience) + .seconds(1)
            try await driver.link(invitation, with: theirs, to: inviter, until: end)
        }
    }

    /// Says no.
    ///
    /// Throws `alreadyAnswered` when there was an answer before, `timedOut` when it comes too late, and `cancelled` when
    /// the inviter gave up or the advertiser was stopped.
    public func decline() async throws(MultipeerError) {
        try claim()
        let (listener, id) = (listener, question.id)
        try await listener.answering(inviter) { () async throws(InvitationFault) in
            try await listener.refuse(id, .declined)
        }
    }

    /// For the link, however late the yes was: the inviter may have begun its time anew.
    private static let leastPatience = Duration.seconds(5)

    private func claim() throws(MultipeerError) {
        let isFirst = isAnswered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
        guard isFirst else {  // [invite.once]
            throw MultipeerError(.alreadyAnswered, "the invitation of \(inviter) was answered before")
        }
        listener.claim(question.id)
    }
}

extension Invitation: CustomStringConvertible {
    /// Who says that it invites. Names are those that peers gave themselves: escape them before showing them.
    public var description: String { "an invitation of \(inviter)" }
}

extension InvitationListener {
    fileprivate nonisolated func answering<Value: Sendable>(
        _ inviter: PeerID, _ body: () async throws(InvitationFault) -> Value
    ) async throws(MultipeerError) -> Value {
        do throws(InvitationFault) {
            return try await body()
        } catch {
            throw MultipeerError(error, of: inviter)
        }
    }

    /// Says yes with the session's data; answers the inviter's.
    fileprivate nonisolated func accept(
        _ id: ReceivedInvitation.ID, from inviter: PeerID, as driver: SessionDriver
    ) async throws(MultipeerError) -> ConnectionData {
        let own: ConnectionData
        do throws(SessionFault) {
            own = try await driver.invitationData(for: inviter.uid)
        } catch {
            // The inviter need not wait for what cannot be, nor try again.
            try? await refuse(id, .internal)
            throw MultipeerError(error)
        }
        return try await answering(inviter) { () async throws(InvitationFault) in
            try await accept(id, with: own)
        }
    }
}
