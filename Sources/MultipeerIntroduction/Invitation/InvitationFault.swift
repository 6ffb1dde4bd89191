package import MultipeerFraming

/// Why an invitation led to nothing, at the end that asked or at the end that was asked. Spec 12.
package enum InvitationFault: Error, Equatable, Sendable {
    // What the one who invites hears.

    /// The application said no.
    case declined
    /// Too many wait there, and that has not changed in time.
    case busy
    /// The session that was to be joined has no seat left.
    case full
    /// The two sides do not agree on encryption.
    case incompatible
    /// Nobody is there: the text says for each address why, or that somebody else is.
    case unreachable(String)
    /// A newer invitation of the same peer took this one's place.
    case replaced
    /// The other side gave another code.
    case refused(CloseCode)

    // What the one who is asked hears.

    /// The question was answered before.
    case alreadyAnswered
    /// Whoever invited gave up, or its connection broke.
    case withdrawn

    // What both may hear.

    /// The time of the invitation, or of one of its steps, is over.
    case timedOut
    /// The one who was asked stopped asking, or this side's task was cancelled.
    case cancelled
    /// The other side broke the protocol.
    case protocolError
    /// An argument is outside its range; the text says which.
    case invalid(String)
    /// The system, or the application's own data, failed; the text says how.
    case system(String)
}

extension InvitationFault {
    /// What a code in an ANSWER or a CLOSE means to the one who invites. Spec 12 and 16.
    package init(_ code: CloseCode) {
        switch code.known {
        case .declined: self = .declined
        case .busy: self = .busy
        case .full: self = .full
        case .policy: self = .incompatible
        case .timeout: self = .timedOut
        case .cancelled, .goodbye: self = .cancelled
        case .duplicate: self = .replaced
        case .unknownPeer: self = .unreachable("somebody else is at this address")
        default: self = .refused(code)
        }
    }
}
