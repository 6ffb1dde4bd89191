package import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

/// The exchange that proves a code to both ends, before INVITE. Spec 13.8.
///
/// ```
/// greeting ──SHARE──▶ confirming ──right CONFIRMATION──▶ proven ──INVITE──▶ asking
///                        └──────wrong CONFIRMATION──▶ over, and a one-time code with it
/// ```
///
/// This end sends nothing that helps to guess before it has the inviter's confirmation, so only a wrong one is a guess. Several
/// exchanges may be under way: the first wrong guess ends all of them.
extension Invitee {
    /// What happens to the code.
    package enum CodeEvent: Equatable, Sendable {
        /// A connection from this address proved that it does not have the code. `isLast`: the code can no longer be used.
        case guessedWrong(ConnectionID, isLast: Bool)
        /// A one-time code was used: the invitation is complete.
        case used
    }

    package func awaitsInvite(on id: ConnectionID) -> Bool { connections[id]?.phase == .proven }

    mutating func shared(_ id: ConnectionID, _ number: UInt16, _ point: [UInt8], at now: Moment) {
        guard let connection = connections[id], connection.phase == .greeting else {
            return violated(id, .protocolError, at: now)  // [code.order]
        }
        guard let code, !code.isOver, code.proof.number == number else {
            return end(id, .wrongCode, .unknownCode)  // [code.mismatch]
        }
        if code.isPaused(at: now) { return end(id, .busy, .busy) }  // [code.repeated]
        do throws(SecurityFault) {
            guard let secrets = connection.secrets else { throw .internal("a connection without secrets") }
            let exchange = try code.proof.exchange(as: .b, secrets)
            let keys = try CodeProof.keys(of: exchange, with: point, secrets)
            connections[id]?.phase = .confirming(keys)
            moved(id, at: now)
            connections[id]?.secrets = nil
            actions.append(.send(id, Frame.share(code: number, point: exchange.share).encoded))
        } catch {
            violated(id, error.exchangeCloseCode, at: now)  // [code.point]
        }
    }

    mutating func confirmed(_ id: ConnectionID, _ theirs: [UInt8], at now: Moment) {
        guard case .confirming(let keys)? = connections[id]?.phase else {
            return violated(id, .protocolError, at: now)  // [code.order]
        }
        guard keys.verifies(theirs) else { return guessedWrong(id, at: now) }  // [code.guess]
        code?.wasProven()
        connections[id]?.phase = .proven
        moved(id, at: now)
        actions.append(.send(id, Frame.confirmation(keys.confirmation).encoded))
    }

    /// Ends every exchange: otherwise an attacker could prepare many, and try a word in each at once.
    private mutating func guessedWrong(_ id: ConnectionID, at now: Moment) {
        code?.wasGuessedWrong(at: now)
        let isLast = code?.isOver == true
        end(id, .wrongCode, .wrongCode)
        for other in connections.keys.sorted() {
            guard case .confirming? = connections[other]?.phase else { continue }
            end(other, isLast ? .wrongCode : .busy, .wrongCode)  // [code.once] [code.repeated]
        }
        actions.append(.tell(.code(.guessedWrong(id, isLast: isLast))))  // [code.guess]
    }

    /// Returns the reason why an INVITE of this peer is not admitted on this connection, if there is a code.
    func refusalForCode(_ connection: Connection, _ inviter: UID) -> CloseCode? {
        guard let code else { return nil }
        guard connection.phase == .proven else { return .codeRequired }  // [code.required]
        guard code.validity == .once else { return nil }
        let isTaken = held.contains { $0.waiting.inviter != inviter }
        return isTaken ? .busy : nil  // [code.once]
    }

    /// Ends a one-time code, which was used. [code.once]
    mutating func useCode() {
        guard code?.validity == .once, code?.isOver == false else { return }
        code?.end()
        for other in connections.filter({ $0.value.isUnauthenticated }).keys.sorted() {
            end(other, .wrongCode, .unknownCode)
        }
        actions.append(.tell(.code(.used)))
    }
}
