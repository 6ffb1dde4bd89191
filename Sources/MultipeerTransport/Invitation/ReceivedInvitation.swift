package import MultipeerCore
package import MultipeerIntroduction

/// An invitation that waits for the application's answer: `InvitationListener.accept` or `refuse`.
package struct ReceivedInvitation: Identifiable, Sendable {
    package let id: QuestionID
    /// Who says that it invites: nothing proves it before there is a link.
    package let inviter: PeerID
    /// What the inviter's application says; nil and empty are different. At most 32 KiB.
    package let context: [UInt8]?
    /// For how long the inviter waits, from the moment it was asked: 1 to 600 s.
    package let timeout: Duration
    /// When that is over.
    package let deadline: Moment
    package let remote: SocketAddress
    /// Sent when the question is over: nil once it was answered, otherwise why nobody waits for an answer any more.
    package let ending: Promise<InvitationFault?>
}
