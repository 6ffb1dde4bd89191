import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

/// The exchange that proves a code to both ends, before INVITE. Spec 13.8.
///
/// ```
/// connecting ──secured──▶ sharing ──SHARE──▶ confirming ──CONFIRMATION──▶ asking
///    ▲ ▲──BUSY, lost────────┘│                  │
///    └─no such code──────────┘                  └──anything else──▶ over: wrong code
/// ```
///
/// With its CONFIRMATION this end allows the peer to try one guess. Whatever ends the exchange after that, other than the right
/// confirmation, therefore counts as a wrong guess.
extension Inviter {
    mutating func share(_ code: CodeProof, _ secrets: CodeSecrets?, on id: ConnectionID, at now: Moment) {
        self.secrets = secrets
        exchangeTimer?.moved(at: now)  // [invite.deadline]
        do throws(SecurityFault) {
            guard let secrets else { throw .internal("a connection without secrets") }
            let exchange = try code.exchange(as: .a, secrets)
            phase = .sharing(id, exchange)
            let frame = Frame.share(code: code.number, point: exchange.share)
            actions.append(.send(id, frame.encoded))
        } catch {
            fail(id, .internal, .system("\(error)"))
        }
    }

    mutating func shared(_ id: ConnectionID, _ number: UInt16, _ point: [UInt8], at now: Moment) {
        guard case .sharing(id, let exchange) = phase, number == code?.number, let secrets else {
            return violated(id, .protocolError, at: now)  // [code.order]
        }
        do throws(SecurityFault) {
            let keys = try CodeProof.keys(of: exchange, with: point, secrets)
            phase = .confirming(id, keys)
            exchangeTimer?.moved(at: now)  // [invite.deadline]
            actions.append(.send(id, Frame.confirmation(keys.confirmation).encoded))
        } catch {
            violated(id, error.exchangeCloseCode, at: now)  // [code.point]
        }
    }

    mutating func confirmed(_ id: ConnectionID, _ theirs: [UInt8], at now: Moment) {
        guard case .confirming(id, let keys) = phase else {
            return violated(id, .protocolError, at: now)  // [code.order]
        }
        guard keys.verifies(theirs) else { return fail(id, .wrongCode, .wrongCode) }  // [code.guess]
        secrets = nil
        exchangeTimer = nil
        invite(on: id, at: now)
    }

    var isExchanging: Bool {
        switch phase {
        case .sharing, .confirming: true
        case .connecting, .asking, .agreeing, .over: false
        }
    }

    /// Whether the peer may have made a guess that it has not proven right.
    var endsGuess: Bool { if case .confirming = phase { true } else { false } }
}
