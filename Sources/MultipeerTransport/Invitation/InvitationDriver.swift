import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

/// Carries out the decisions of the engine of one end of invitations.
protocol InvitationDriver: ConnectionDriver {
    associatedtype Machine: InvitationMachine
    var engine: InvitationEngine<Machine> { get set }
    nonisolated var tls: InvitationTLS { get }
    /// The peer that is dialled; nil where it is not known.
    nonisolated var invitee: UID? { get }
    func carryOut(_ event: Machine.Event)
}

extension InvitationDriver {
    /// Carries out the engine's actions; those that follow from them in the meantime come after those that were already waiting.
    func carryOut() {
        guard !sockets.isCarryingOut else { return }
        sockets.isCarryingOut = true
        defer { sockets.isCarryingOut = false }
        while case let outputs = engine.takeOutputs(), !outputs.isEmpty {
            for output in outputs {
                switch output {
                case .connection(let order): carryOut(order)
                case .tell(let event): carryOut(event)
                }
            }
        }
    }

    /// Carries out every decision and writes what is due.
    func settle() {
        carryOut()
        writeDue()
        sockets.resume()
    }

    func channel(dialled connection: SocketConnection) throws(SecurityFault) -> SecureChannel {
        try tls.channel(.client, to: invitee)
    }
    func channel(accepted first: UInt8) throws(SecurityFault) -> SecureChannel? { try tls.channel(.server) }

    func connected(_ connection: SocketConnection) { engine.connected(connection.id, at: loop.now) }
    func secured(_ connection: SocketConnection) throws(SecurityFault) {
        let secrets = engine.machine.needsSecrets ? try connection.codeSecrets() : nil
        engine.secured(connection.id, keyedUID: connection.channel?.keyedUID, secrets, at: loop.now)
        if connection.isRefused { engine.refuse(connection.id, .tooManyFiles, at: loop.now) }
    }

    func receive(_ bytes: Span<UInt8>, on connection: SocketConnection) -> Int {
        engine.receive(bytes, on: connection.id, at: loop.now)
    }

    func receive(_ message: SecureChannel.PostHandshakeMessage, on connection: SocketConnection) {
        engine.receive(message, on: connection.id, at: loop.now)
    }

    func ended(_ id: ConnectionID, _ setback: ConnectionFailure, hasAlert: Bool) {
        engine.ended(id, setback, hasAlert: hasAlert, at: loop.now)
    }

    func takeDue(into list: inout [ConnectionID]) { engine.takeDue(into: &list) }
    func wantsInput(_ connection: SocketConnection) -> Bool {
        engine.wantsInput(connection.id, unsent: connection.unsent)
    }
    func fill(_ connection: SocketConnection) -> Bool {
        connection.append { frames in
            engine.fill(connection.id, into: &frames)
            return nil
        }
        return false
    }
}
