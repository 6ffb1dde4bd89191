import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

/// What carries out what an engine decides about TCP connections: the session, and both ends of invitations.
///
/// An actor pinned to its loop. Everything that is done to a socket and to the TLS in it is in the extensions of this
/// protocol, once for all of them; an owner only says which engine it is.
protocol ConnectionOwner: Actor, LoopClient {
    nonisolated var loop: EventLoop { get }
    var sockets: Sockets { get }

    /// The channel of a connection that was dialled.
    func channel(dialled wire: Wire) throws(SecurityFault) -> SecureChannel
    /// The channel of a connection that was accepted and whose first byte is this; nil when there is none for it.
    func channel(accepted first: UInt8) throws(SecurityFault) -> SecureChannel?

    // What the engine is told and asked.

    func connected(_ wire: Wire)
    func secured(_ wire: Wire) throws(SecurityFault)
    func receive(_ bytes: Span<UInt8>, on wire: Wire) -> Int
    func ended(_ id: ConnectionID, _ setback: Setback, hasAlert: Bool)
    func wantsInput(_ wire: Wire) -> Bool
    /// The connections for which the engine has something.
    func takeDue() -> [ConnectionID]
    /// Appends what the engine has for this connection to its frames.
    func fill(_ wire: Wire)
    func carryOut()
}

extension ConnectionOwner {
    /// Most owners have nothing to do before the handshake.
    func connected(_ wire: Wire) {}

    /// Carries out what an engine wants of a connection.
    func carryOut(_ order: ConnectionOrder) {
        switch order {
        case .dial(let id, let candidate, accepting: let key): dial(id, candidate, accepting: key)
        case .finish(let id):
            sockets.wires[id]?.phase = .parting
            sockets.dirty.insert(id)
        case .drop(let id): if let wire = sockets.wires[id] { close(wire) }
        }
    }

    private func dial(_ id: ConnectionID, _ candidate: Candidate, accepting key: Fingerprint?) {
        guard let address = SocketAddress(candidate) else {
            return ended(id, .unreachable("not an address"), hasAlert: false)
        }
        do throws(SocketFault) {
            let socket = try loop.connect(to: address)
            try watch(Wire(id, socket, to: address, dialled: true, accepting: key))
        } catch {
            ended(id, .unreachable("\(address): \(error)"), hasAlert: false)
        }
    }

    /// Takes over a connection that was accepted, and that the engine knows.
    func admit(_ id: ConnectionID, _ socket: consuming Socket, from remote: SocketAddress) {
        do throws(SocketFault) {
            try watch(Wire(id, socket, to: remote, dialled: false, accepting: nil))
        } catch {
            ended(id, .unreachable("\(error)"), hasAlert: false)
        }
    }

    private func watch(_ wire: Wire) throws(SocketFault) {
        try loop.register(
            wire.socket.descriptor, for: self, token: Int(wire.id.rawValue), interest: wire.interest)
        sockets.wires[wire.id] = wire
    }

    /// Gives the socket back to the system.
    private func close(_ wire: Wire) {
        guard sockets.wires.removeValue(forKey: wire.id) != nil else { return }
        sockets.dirty.remove(wire.id)
        loop.deregister(wire.socket.descriptor)
        wire.channel = nil
    }

    /// The connection ended below the frames.
    func lost(_ wire: Wire, _ setback: Setback) {
        guard sockets.wires[wire.id] === wire else { return }
        var hasAlert = false
        if case .security = setback, wire.channel != nil, !wire.isParting {
            wire.frames.removeAll()
            hasAlert = true
        }
        ended(wire.id, setback, hasAlert: hasAlert)
        carryOut()
    }

    func want(_ interest: Readiness, of wire: Wire) {
        guard wire.interest != interest else { return }
        wire.interest = interest
        do throws(SocketFault) {
            try loop.setInterest(wire.socket.descriptor, interest)
        } catch {
            lost(wire, .unreachable("\(error)"))
        }
    }
}
