package import MultipeerCore
package import MultipeerHandshake

/// An invitation that waits for the application's answer: `InvitationListener.accept` or `refuse`.
package struct ReceivedInvitation: Identifiable, Sendable {
    package let id: QuestionID
    /// The peer that the inviter claims to be, unproven before there is a link.
    package let inviter: PeerID
    /// Whether the inviter has proven the code of the invited peer.
    package let isVerified: Bool
    /// The data of the inviter's application; nil and empty are different. At most 32 KiB.
    package let context: [UInt8]?
    /// How long the inviter waits, from the moment it was asked: 1 to 600 s.
    package let timeout: Duration
    /// The end of that time.
    package let deadline: Moment
    package let remote: SocketAddress
    /// Settled when the question is over: nil once it was answered, otherwise why an answer is no longer expected.
    package let ending: Promise<InvitationFault?>
    /// Settled when a peer at another address has claimed the id of the inviter while this question was open. [invite.contested]
    package let contest: Promise<Void>
}
