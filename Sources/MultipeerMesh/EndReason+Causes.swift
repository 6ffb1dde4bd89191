import MultipeerFraming
package import MultipeerIntroduction

// The one place where what the machines say becomes what users read.

extension EndReason {
    /// Why a link ended.
    package init(_ end: LinkEnd) {
        switch end {
        case .closedByPeer(let code, let text): self.init(told: code, otherwise: .closedByPeer, detail: text)
        case .closed(let code): self.init(telling: code)
        case .violation(let violation):
            self.init(Code.protocolViolation, closeCode: violation.closeCode, detail: violation.description)
        case .superseded: self.init(Code.superseded)
        case .timedOut: self.init(Code.timedOut)
        case .lost: self.init(Code.lost)
        }
    }

    /// Why there never was a link.
    package init(_ failure: IntroductionFailure) {
        switch failure {
        case .timedOut(let setback): self.init(Code.timedOut, detail: setback.map(Self.describe) ?? "")
        case .refusedByPeer(let code): self.init(told: code, otherwise: .closedByPeer)
        case .refused(let code): self.init(telling: code)
        case .cancelled: self.init(Code.cancelled)
        }
    }

    /// Why there was not even an attempt.
    package init(_ refusal: Introductions.Refusal) {
        switch refusal {
        case .itself: self.init(Code.selfConnection)
        case .anotherRecipient: self.init(Code.unknownPeer, detail: "the connection data is for another peer")
        case .incompatible: self.init(Code.policy)
        case .tooManyAwaited: self.init(Code.busy, detail: "too many peers are awaited")
        case .full: self.init(Code.full)
        case .nothingIssued: self.init(Code.unknownPeer, detail: "the peer was given no connection data")
        }
    }

    /// The peer said why.
    private init(told code: CloseCode, otherwise: Code, detail: String = "") {
        let meaning: Code =
            switch code.known {  // [code.unknown]
            case .goodbye: .goodbye
            default: Self.meaning(of: code) ?? otherwise
            }
        self.init(meaning, closeCode: code, detail: detail)
    }

    /// We told the peer why.
    private init(telling code: CloseCode) {
        switch code {
        case .goodbye: self.init(Code.left)
        case .protocolError, .badMAC, .flow, .flood, .tooLarge: self.init(Code.protocolViolation, closeCode: code)
        case .internal: self.init(Code.internal)
        default: self.init(Self.meaning(of: code) ?? .closed, closeCode: code)
        }
    }

    /// Codes that mean the same whoever says them.
    private static func meaning(of code: CloseCode) -> Code? {
        switch code.known {
        case .timeout: .timedOut
        case .full: .full
        case .policy: .policy
        case .unknownPeer: .unknownPeer
        case .duplicate: .superseded
        case .busy: .busy
        case .itself: .selfConnection
        case .rejected: .rejected
        case .version: .version
        case .cancelled: .cancelled
        default: nil
        }
    }

    private static func describe(_ setback: Setback) -> String {
        switch setback {
        case .unreachable(let problem): "last attempt: \(problem)"
        case .lost: "last attempt: the connection was lost"
        case .security(let fault): "last attempt: \(fault)"
        case .closed(let code): "last attempt: the peer closed with \(code)"
        case .refused(let code): "last attempt: refused with \(code)"
        }
    }
}
