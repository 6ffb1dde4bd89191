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
        Task(executorPreference: core.native.executor) { [invitation] in
            _ = await invitation.link(in: core.native, isMarked: true)
        }
    }

    private func decline() {
        Task { [invitation] in
            // A no for which nobody waits any more is as good as one that was heard.
            _ = try? await invitation.decline()
        }
    }
}
