import Multipeer
import MultipeerTransport

/// The answer to one invitation, from any thread, at any time: the first one counts.
final class InvitationAnswer: Sendable {
    private let invitation: Invitation
    private let isGiven = Locked(false)

    init(_ invitation: Invitation) { self.invitation = invitation }

    /// Gives the answer: a session accepts. Its delegate is notified of the outcome.
    func give(_ core: SessionCore?) {
        guard isGiven.setFirst() else { return }
        guard let core else { return decline() }
        if core.fault != nil {
            core.report(invitation.inviter)
            return decline()
        }
        do throws(MultipeerError) {
            // At once: stopping the advertiser from now on cannot undo it.
            try invitation.consent(to: core.native)
        } catch {
            core.report(invitation.inviter)
            return decline()
        }
        Task(executorPreference: core.native.executor) { [invitation] in
            _ = await invitation.link(in: core.native, isMarked: true)
        }
    }

    private func decline() {
        Task { [invitation] in
            // An answer that is no longer expected need not be delivered.
            _ = try? await invitation.decline()
        }
    }
}
