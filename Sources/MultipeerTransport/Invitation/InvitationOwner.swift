import MultipeerCore
import MultipeerEngine
import MultipeerIntroduction
import MultipeerSecurity

/// Carries out what the engine of one end of invitations decides.
protocol InvitationOwner: ConnectionOwner {
    associatedtype Machine: InvitationMachine
    var engine: InvitationEngine<Machine> { get set }
    nonisolated var tls: InvitationTLS { get }
    func carryOut(_ event: Machine.Event)
}

extension InvitationOwner {
    /// What follows from that while it goes on is carried out after what was wanted before.
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

    func channel(dialled wire: Wire) throws(SecurityFault) -> SecureChannel { try tls.channel(.client) }
    func channel(accepted first: UInt8) throws(SecurityFault) -> SecureChannel? { try tls.channel(.server) }

    func connected(_ wire: Wire) { engine.connected(wire.id, at: loop.now) }
    func secured(_ wire: Wire) throws(SecurityFault) { engine.secured(wire.id, at: loop.now) }

    func receive(_ bytes: Span<UInt8>, on wire: Wire) -> Int {
        engine.receive(bytes, on: wire.id, at: loop.now)
    }

    func ended(_ id: ConnectionID, _ setback: Setback, hasAlert: Bool) {
        engine.ended(id, setback, hasAlert: hasAlert, at: loop.now)
    }

    func takeDue() -> [ConnectionID] { engine.takeDue() }
    func wantsInput(_ wire: Wire) -> Bool { engine.wantsInput(wire.id, unsent: wire.unsent) }
    func fill(_ wire: Wire) { engine.fill(wire.id, into: &wire.frames) }
}
