package import MultipeerFraming

/// Why a link ended. Set once. Spec 14.3. [state.reason]
package enum LinkCloseReason: Equatable, Sendable {
    /// The peer sent CLOSE. The text is the peer's, sanitised for display.
    case closedByPeer(CloseCode, reason: String)
    /// This side sent CLOSE.
    case closed(CloseCode)
    case violation(Violation)
    /// A newer connection to the same peer was selected.
    case superseded
    /// No data was received from the peer for too long.
    case timedOut
    /// The peer is there, but does not receive large packets.
    case largePacketsLost
    /// The connection ended without a CLOSE from either side. [tls.truncation]
    case lost
}

extension LinkCloseReason {
    /// The code that is sent to the peer, if any. Decided only here.
    package var closeCode: CloseCode? {
        switch self {
        case .closedByPeer, .lost: nil
        case .closed(let code): code
        case .violation(let violation): violation.closeCode
        case .superseded: .duplicate
        case .timedOut, .largePacketsLost: .timeout
        }
    }
}
