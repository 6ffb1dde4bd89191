package import MultipeerFraming

/// Why a link ended. Set once. Spec 14.3. [state.reason]
package enum LinkCloseReason: Equatable, Sendable {
    /// The peer said CLOSE. The text is its own, made fit to be shown.
    case closedByPeer(CloseCode, reason: String)
    /// This side said CLOSE.
    case closed(CloseCode)
    case violation(Violation)
    /// A newer connection to the same peer was selected.
    case superseded
    /// The peer was silent for too long.
    case timedOut
    /// The connection ended and nobody had said CLOSE. [tls.truncation]
    case lost
}

extension LinkCloseReason {
    /// What the peer is told, if it is told anything. The only place that decides.
    package var closeCode: CloseCode? {
        switch self {
        case .closedByPeer, .lost: nil
        case .closed(let code): code
        case .violation(let violation): violation.closeCode
        case .superseded: .duplicate
        case .timedOut: .timeout
        }
    }
}
