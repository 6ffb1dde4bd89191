import MultipeerFraming
package import MultipeerIntroduction
package import MultipeerLink

// The one place where what the machines say becomes what users read.

extension DisconnectReason {
    /// Why a link ended.
    package init(_ end: LinkCloseReason) {
        switch end {
        case .closedByPeer(let code, let text): self.init(told: code, otherwise: .closedByPeer, detail: text)
        case .closed(let code): self.init(telling: code)
        case .violation(let violation):
            self.init(code: .protocolViolation, closeCode: violation.closeCode, detail: violation.description)
        case .superseded: self.init(code: .superseded)
        case .timedOut: self.init(code: .timedOut)
        case .lost: self.init(code: .lost)
        }
    }

    /// Why there never was a link.
    package init(_ failure: LinkAttemptFailure) {
        switch failure {
        case .timedOut(let connectionFailure):
            self.init(code: .timedOut, detail: connectionFailure.map(Self.describe) ?? "")
        case .refusedByPeer(let code): self.init(told: code, otherwise: .closedByPeer)
        case .refused(let code): self.init(telling: code)
        case .cancelled: self.init(code: .cancelled)
        case .withdrawn: self.init(code: .gone)
        }
    }

    /// Why there was not even an attempt.
    package init(_ refusal: LinkEstablishment.Refusal) {
        switch refusal {
        case .itself: self.init(code: .selfConnection)
        case .anotherRecipient:
            self.init(code: .unknownPeer, detail: "the connection data is for another peer")
        case .incompatible: self.init(code: .policy)
        case .tooManyExpectedPeers: self.init(code: .busy, detail: "too many peers are awaited")
        case .full: self.init(code: .full)
        case .nothingIssued: self.init(code: .unknownPeer, detail: "the peer was given no connection data")
        }
    }

    /// Whether the peer's instance is over, and not only a link to it. `hasTold`: an entry had come on the link. Whoever
    /// leaves told one first; a peer that refuses what only we took for a link says FULL, too. [mesh.departed]
    package func hasDeparted(hasTold: Bool) -> Bool {
        code == .goodbye || code == .full && hasTold && closeCode != nil
    }

    /// Whether one end let go of the other because the mesh had too many members. A peer that withdraws what only we took for
    /// a link says UNKNOWN_PEER, too. [mesh.dismiss]
    package func isDismissal(hasTold: Bool) -> Bool {
        code == .full && closeCode == nil || closeCode == .unknownPeer && hasTold
    }

    /// The peer said why.
    private init(told code: CloseCode, otherwise: Code, detail: String = "") {
        let meaning: Code =
            switch code.known {  // [code.unknown]
            case .goodbye: .goodbye
            default: Self.meaning(of: code) ?? otherwise
            }
        self.init(code: meaning, closeCode: code, detail: detail)
    }

    /// We told the peer why.
    private init(telling code: CloseCode) {
        switch code {
        case .goodbye: self.init(code: .left)
        case .protocolError, .badMAC, .flow, .flood, .tooLarge:
            self.init(code: .protocolViolation, closeCode: code)
        case .internal: self.init(code: .internal)
        default: self.init(code: Self.meaning(of: code) ?? .closed, closeCode: code)
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

    private static func describe(_ connectionFailure: ConnectionFailure) -> String {
        switch connectionFailure {
        case .unreachable(let problem): "last attempt: \(problem)"
        case .lost: "last attempt: the connection was lost"
        case .security(let fault): "last attempt: \(fault)"
        case .closed(let code): "last attempt: the peer closed with \(code)"
        case .refused(let code): "last attempt: refused with \(code)"
        }
    }
}
