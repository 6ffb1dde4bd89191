public import Foundation
import Multipeer
public import MultipeerCore

/// How an `MCAdvertiserAssistant` asks the user: what Apple's framework does with an alert. Not in Apple's framework.
public protocol MCInvitationPresenter: Sendable {
    /// Asks whether the user wants to be connected with somebody, and returns the answer.
    ///
    /// An assistant asks one question at a time, on no particular thread. When nobody waits for the answer any more, because
    /// the inviter gave up, the time is over or the assistant was stopped, the task is cancelled: take the question away, and
    /// return anything.
    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool
}

/// An invitation as the user is asked about it. Nothing in it is proved: it is what somebody on the network says.
public struct MCPresentedInvitation: Sendable {
    /// Who says that it invites.
    public let inviter: PeerID
    /// Who is invited.
    public let invitee: PeerID
    /// What kind of peers both look for.
    public let serviceType: String
    /// What the inviter's application says; nil for nothing.
    public let context: Data?

    package init(inviter: PeerID, invitee: PeerID, serviceType: String, context: Data?) {
        (self.inviter, self.invitee, self.serviceType, self.context) = (
            inviter, invitee, serviceType, context
        )
    }
}
