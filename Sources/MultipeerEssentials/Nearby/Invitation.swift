public import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
public import MultipeerTransport

/// A request of another peer to be linked with the local one: answer it once, at any time before `timeout` is over, from any
/// task.
///
/// Unless `isVerified`, the inviter's identity is not yet proven: `inviter` and `context` are unauthenticated. A
/// session's link proves the identity, as far as its trust policy requires that. An invitation that is not answered
/// times out at both ends.
public final class Invitation: Identifiable, Sendable {
    /// The peer that the inviter claims to be.
    public let inviter: PeerID
    /// Whether the inviter has proven the advertiser's code: then no one without it can have sent `context`, and the link will be
    /// verified, unless the code stays valid and is shared by a group.
    public let isVerified: Bool
    /// The data of the inviter's application, up to 32 KiB; nil when there is none. It comes from an unauthenticated peer.
    public let context: [UInt8]?
    /// How long the inviter waits, counted from the arrival of the invitation: 1 to 600 seconds.
    public let timeout: Duration

    private let question: ReceivedInvitation
    private let listener: InvitationListener
    private let isAnswered = Locked(false)

    init(_ question: ReceivedInvitation, to listener: InvitationListener) {
        self.question = question
        self.listener = listener
        inviter = question.inviter
        isVerified = question.isVerified
        context = question.context
        timeout = question.timeout
    }

    /// Whether a peer at another address has sent an invitation with the same id as `inviter` while this one was open, before or
    /// after it: then one of the two poses as the other, and the id does not tell which. Show that before the user accepts.
    public var isContested: Bool { question.contest.isSent }

    /// Whether the inviter is still waiting for an answer.
    public var isOpen: Bool { !question.ending.isSent && !isAnswered.withLock { $0 } }

    /// Returns when an answer is no longer expected: one was given, the inviter gave up, the time is over, or the advertiser was
    /// stopped; or when the task is cancelled. Use it to close a prompt that is no longer needed.
    public func waitUntilEnded() async { _ = await question.ending.valueUnlessCancelled() }

    /// Accepts, and returns when the inviter is linked in `session`, at once when it was already linked there.
    ///
    /// The link joins the meshes of both sides unless the topology of one is a star. Whether it succeeds or throws, the
    /// invitation is answered, except for `invalidArgument`: the session does not belong to the advertiser's peer.
    ///
    /// Throws `alreadyAnswered` when there was an answer before; `timedOut` when it comes too late, or no link was made in time;
    /// `cancelled` when the inviter gave up, the advertiser was stopped or the task is cancelled; `full` when the session or its
    /// mesh has no room left, of which the inviter is notified; `incompatible` when one side always encrypts and the other never
    /// does, which both sides detect; `ended` with the reason when the link could not be made for another reason, also when this
    /// session was disconnected; `system` when the session cannot listen.
    public func accept(into session: Session) async throws(MultipeerError) {
        try consent(to: session)
        try await link(in: session).get()
    }

    /// Keeps it open, from now on, when the advertiser is stopped or released: until it is answered, withdrawn or out of time.
    package func keep() { listener.claim(question.id) }

    /// The first half of `accept`, without waiting: from here on, stopping or releasing the advertiser cannot undo the answer.
    ///
    /// Throws `alreadyAnswered`, and `invalidArgument` when the session does not belong to the advertiser's peer.
    package func consent(to session: Session) throws(MultipeerError) {
        guard session.peer == listener.peer else {
            throw MultipeerError(
                .invalidArgument, "\(listener.peer) was invited, and the session is of \(session.peer)")
        }
        try claim()
    }

    /// The second half, called once, with the session of the first. `isMarked`: the session's owner is notified when the attempt
    /// failed and no event says so.
    package func link(
        in session: Session, isMarked: Bool = false
    ) async -> Result<Void, MultipeerError> {
        let (inviter, listener, id) = (inviter, listener, question.id)
        let (driver, deadline) = (session.driver, question.deadline)
        let code = question.isVerified ? listener.codeValidity : nil
        return await driver.invitation(of: inviter, isMarked: isMarked) {
            (invitation) async throws(MultipeerError) in
            guard await driver.hasRoom(for: inviter.uid) else {
                try await listener.answering(inviter) { () async throws(InvitationFault) in
                    try await listener.refuse(id, .full)  // [limit.links]
                }
                throw MultipeerError(.full, "the session is full: \(inviter) cannot join")
            }
            let theirs = try await listener.accept(id, from: inviter, as: driver)
            // Longer than the inviter waits: a decision that it makes in its last moment still arrives.
            let end = max(deadline, EventLoop.currentMoment() + Invitation.leastTimeLimit) + .seconds(1)
            try await driver.link(invitation, with: theirs, to: inviter, until: end, provenBy: code)
        }
    }

    /// Declines.
    ///
    /// Throws `alreadyAnswered` when there was an answer before, `timedOut` when it comes too late, and `cancelled` when the
    /// inviter gave up or the advertiser was stopped.
    public func decline() async throws(MultipeerError) {
        try claim()
        let (listener, id) = (listener, question.id)
        try await listener.answering(inviter) { () async throws(InvitationFault) in
            try await listener.refuse(id, .declined)
        }
    }

    /// The minimum time for the link, however late the answer was: the inviter may have restarted its timeout.
    private static let leastTimeLimit = Duration.seconds(5)

    private func claim() throws(MultipeerError) {
        guard isAnswered.setFirst() else {  // [invite.once]
            throw MultipeerError(.alreadyAnswered, "the invitation of \(inviter) was answered before")
        }
        listener.claim(question.id)
    }
}

extension Invitation: CustomStringConvertible {
    /// The peer that the inviter claims to be. Peers choose their own names: escape them before showing them.
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

    /// Accepts with the session's data and returns the inviter's.
    fileprivate nonisolated func accept(
        _ id: ReceivedInvitation.ID, from inviter: PeerID, as driver: SessionDriver
    ) async throws(MultipeerError) -> ConnectionData {
        let own: ConnectionData
        do throws(SessionFault) {
            own = try await driver.invitationData(for: inviter.uid)
        } catch {
            // The inviter need not wait for what cannot happen, nor try again.
            try? await refuse(id, error == .network(.tooManyFiles) ? .tooManyFiles : .internal)
            throw MultipeerError(error)
        }
        return try await answering(inviter) { () async throws(InvitationFault) in
            try await accept(id, with: own)
        }
    }
}
