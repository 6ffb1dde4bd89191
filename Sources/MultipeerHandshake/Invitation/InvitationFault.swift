package import MultipeerFraming

/// Why an invitation failed, at the inviter or at the invitee. Spec 12.
package enum InvitationFault: Error, Equatable, Sendable {
    // Reported to the inviter.

    /// The peer's application declined.
    case declined
    /// Too many invitations wait there, and that did not change in time.
    case busy
    /// The session to join has no room left.
    case full
    /// The two sides do not agree on encryption.
    case incompatible
    /// The peer was not reached: the text states for each address why, or that another peer responded.
    case unreachable(String)
    /// The same, and one of those that responded has not the key of the peer's id: anyone can announce a wrong address. [uid.proof]
    case foreignKey(String)
    /// A newer invitation of the same peer replaced this one.
    case replaced
    /// The other side gave another code.
    case refused(CloseCode)
    /// The peer has a code, and the invitation came without one.
    case codeRequired
    /// The peer does not have this code, or no longer.
    case unknownCode
    /// The peer has not proven the code: it is mistyped, or another host tried to guess it. It must not be used again.
    case wrongCode

    // Reported to the invitee.

    /// The invitation was already answered.
    case alreadyAnswered
    /// The inviter gave up, or its connection was lost.
    case withdrawn

    // Reported to either end.

    /// The invitation, or one of its steps, timed out.
    case timedOut
    /// The invitee stopped asking its application, or this side's task was cancelled.
    case cancelled
    /// The other side broke the protocol.
    case protocolError
    /// An argument is outside its range; the text names it.
    case invalid(String)
    /// The peer's application was asked, and did not answer in time.
    case unanswered
    /// The system, or the application's own data, failed; the text describes how.
    case system(String)
}

extension InvitationFault {
    /// Creates the fault that a code in an ANSWER or a CLOSE means to the inviter. Spec 12 and 16.
    package init(_ code: CloseCode) {
        switch code.known {
        case .declined: self = .declined
        case .busy: self = .busy
        case .full: self = .full
        case .policy: self = .incompatible
        case .timeout: self = .timedOut
        case .cancelled, .goodbye: self = .cancelled
        case .duplicate: self = .replaced
        case .unknownPeer: self = .unreachable("another peer is at this address")
        case .wrongCode: self = .unknownCode
        case .codeRequired: self = .codeRequired
        default: self = .refused(code)
        }
    }
}
