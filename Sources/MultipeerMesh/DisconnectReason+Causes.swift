import MultipeerFraming
package import MultipeerHandshake
package import MultipeerLink

// The only place where results of the state machines become reasons that users read.

extension DisconnectReason {
    /// Creates the reason why a link ended.
    package init(_ end: LinkCloseReason) {
        switch end {
        case .closedByPeer(let code, let text): self.init(told: code, otherwise: .closedByPeer, detail: text)
        case .closed(let code): self.init(telling: code)
        case .violation(let violation):
            self.init(code: .protocolViolation, closeCode: violation.closeCode, detail: violation.description)
        case .superseded: self.init(code: .superseded)
        case .timedOut: self.init(code: .timedOut)
        case .largePacketsLost:
            self.init(code: .timedOut, detail: "large packets do not arrive, small ones do")
        case .lost: self.init(code: .lost)
        }
    }

    /// Creates the reason why an attempt ended without a link.
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

    /// Creates the reason why no attempt was started.
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

    /// Returns whether the peer's instance has ended, and not only a link to it. `hasTold`: an entry had been received
    /// on the link. A peer that leaves has sent one before; a peer that refuses what only we took for a link sends FULL,
    /// too. [mesh.departed]
    package func hasDeparted(hasTold: Bool) -> Bool {
        code == .goodbye || code == .full && hasTold && closeCode != nil
    }

    /// Returns whether one end dismissed the other because the mesh had too many members. A peer that withdraws what only we
    /// took for a link sends UNKNOWN_PEER, too. [mesh.dismiss]
    package func isDismissal(hasTold: Bool) -> Bool {
        code == .full && closeCode == nil || closeCode == .unknownPeer && hasTold
    }

    /// Whether neither end wanted the end of the link. A peer that sends DUPLICATE has another link, which this end may have
    /// lost; one that sends FLOW, or receives it, is slow, as it is before it is cut off. [mesh.missed]
    package var isLoss: Bool { [.lost, .timedOut, .superseded].contains(code) || closeCode == .flow }

    /// Whether this end replaced the link with a newer one, which is reported next.
    package var isReplacement: Bool { code == .superseded && closeCode == nil }

    /// Creates the reason from a code of the peer.
    private init(told code: CloseCode, otherwise: Code, detail: String = "") {
        let meaning: Code =
            switch code.known {  // [code.unknown]
            case .goodbye: .goodbye
            default: Self.meaning(of: code) ?? otherwise
            }
        self.init(code: meaning, closeCode: code, detail: detail)
    }

    /// Creates the reason from a code that we sent.
    private init(telling code: CloseCode) {
        switch code {
        case .goodbye: self.init(code: .left)
        case .protocolError, .badMAC, .flow, .flood, .tooLarge:
            self.init(code: .protocolViolation, closeCode: code)
        case .internal: self.init(code: .internal)
        default: self.init(code: Self.meaning(of: code) ?? .closed, closeCode: code)
        }
    }

    /// Returns the meaning of a code that is the same from either end.
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
        case .wrongCode: .codesDiffer
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
