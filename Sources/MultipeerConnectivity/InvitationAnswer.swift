import Multipeer
import MultipeerTransport

/// The answer to one invitation, from anywhere, at any time: the first one counts.
final class InvitationAnswer: Sendable {
    private let invitation: Invitation
    private let isGiven = Locked(false)

    init(_ invitation: Invitation) { self.invitation = invitation }

    /// A session is a yes. Its delegate hears what comes of it.
    func give(_ core: SessionCore?) {
        let isFirst = isGiven.withLock { isGiven in
            defer { isGiven = true }
            return !isGiven
        }
        guard isFirst else { return }
        guard let core else { return decline() }
        do throws(MultipeerError) {
            // At once: whoever stops the advertiser from now on takes nothing back.
            try invitation.consent(to: core.native)
        } catch {
            core.report(invitation.inviter)
            return decline()
        }
        let attempt = core.begin(invitation.inviter)
        Task(executorPreference: core.native.executor) { [invitation] in
            await core.finish(attempt, invitation.link(in: core.native))
        }
    }

    private func decline() {
        Task { [invitation] in
            // A no for which nobody waits any more is as good as one that was heard.
            _ = try? await invitation.decline()
        }
    }
}

extension SessionCore {
    /// An invitation has led to a link or to nothing, which the native session's events may have told, too.
    func finish(
        _ attempt: Roster.Attempt, _ outcome: (result: Result<Void, MultipeerError>, isTold: Bool)
    ) async {
        switch outcome {
        case (.failure, isTold: false): await failed(attempt)
        default: succeeded(attempt)
        }
    }
}
