package import MultipeerCore
package import MultipeerHandshake
import MultipeerFraming
import MultipeerMesh

extension MultipeerError {
    /// Translates the fault of an invitation; `peer` is at its other end.
    package init(_ fault: InvitationFault, of peer: PeerID) { self.init(fault, named: "\(peer)") }

    /// Translates the fault of an invitation that this task has made: unless it was cancelled, the other side was.
    package static func inviting(_ fault: InvitationFault, named peer: String) -> MultipeerError {
        guard fault == .cancelled, !Task.isCancelled else { return MultipeerError(fault, named: peer) }
        return MultipeerError(.cancelled, "\(peer) takes no invitation any longer: it was cancelled there")
    }

    /// The same; `peer` says in words which one it is.
    package init(_ fault: InvitationFault, named peer: String) {
        switch fault {
        case .declined: self.init(.declined, "\(peer) declined the invitation")
        case .busy: self.init(.busy, "too many other peers are inviting \(peer)")
        case .full: self.init(.full, "the session of \(peer) is full")
        case .incompatible:
            self.init(.incompatible, "\(peer) and this session do not agree on encryption or identity")
        case .unreachable(let problem), .foreignKey(let problem):
            self.init(.unreachable, "\(peer) is not reachable: \(problem)")
        case .replaced: self.init(.cancelled, "a newer invitation to \(peer) replaced this one")
        case .refused(.tooManyFiles):
            self.init(.tooManyFiles, "\(peer) has too many open files", closeCode: .tooManyFiles)
        case .refused(let code):
            self.init(.aborted, "\(peer) refused the invitation: \(code)", closeCode: code)
        case .codeRequired:
            self.init(.codeRequired, "\(peer) can be invited only with its code")
        case .unknownCode:
            self.init(
                .unknownCode, "\(peer) says that it has another code, or that this one was used or has ended")
        case .wrongCode:
            self.init(
                .wrongCode,
                "the code is wrong, or another host answered instead of \(peer): do not try this code again"
            )
        case .alreadyAnswered: self.init(.alreadyAnswered, "the invitation of \(peer) was answered before")
        case .withdrawn: self.init(.cancelled, "\(peer) has withdrawn the invitation")
        case .timedOut, .unanswered: self.init(.timedOut, "the invitation timed out")
        case .cancelled: self.init(.cancelled, "the invitation was cancelled")
        case .protocolError: self.init(.aborted, "\(peer) broke the protocol of invitations")
        case .invalid(let message): self.init(.invalidArgument, message)
        case .system(let problem): self.init(.system, problem)
        }
    }

    /// Returns the error for an accepted invitation that led to no link.
    init(linking reason: DisconnectReason, to peer: PeerID) {
        let code: Code =
            switch reason.code {
            case .full: .full
            case .policy: .incompatible
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            default: .ended
            }
        self.init(code, "no link to \(peer): \(reason)", reason: reason)
    }
}
