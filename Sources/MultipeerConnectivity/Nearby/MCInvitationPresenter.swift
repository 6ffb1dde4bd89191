public import Foundation
import Multipeer
public import MultipeerCore

/// Asks the user about invitations to an `MCAdvertiserAssistant`, as Apple's framework does with an alert. Not in Apple's
/// framework.
public protocol MCInvitationPresenter: Sendable {
    /// Asks whether the user wants to be connected with the inviter, and returns the answer.
    ///
    /// An assistant asks one question at a time, on no particular thread. When the answer is no longer needed, because the
    /// inviter gave up, the time is over or the assistant was stopped, the task is cancelled: remove the question, and return
    /// anything.
    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool
}

/// An invitation as it is presented to the user. Its contents are unauthenticated.
public struct MCPresentedInvitation: Sendable {
    /// The peer that the inviter claims to be.
    public let inviter: PeerID
    /// The invited peer.
    public let invitee: PeerID
    /// The service type under which both peers look for others.
    public let serviceType: String
    /// The data of the inviter's application; nil for none.
    public let context: Data?
    /// Whether a peer at another address has sent an invitation with the inviter's id while this one was open: one of the two is
    /// not who it claims to be. Show that before the user accepts.
    public let isContested: Bool

    package init(
        inviter: PeerID, invitee: PeerID, serviceType: String, context: Data?, isContested: Bool = false
    ) {
        (self.inviter, self.invitee, self.serviceType, self.context) = (
            inviter, invitee, serviceType, context
        )
        self.isContested = isContested
    }
}
