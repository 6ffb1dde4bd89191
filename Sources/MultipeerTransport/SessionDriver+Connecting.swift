import MultipeerCore
import MultipeerEngine
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the engine is told of connections

extension SessionDriver {
    func channel(dialled wire: Wire) throws(SecurityFault) -> SecureChannel {
        guard let accepting = wire.accepting, let tls else { return .plain() }
        return try SecureChannel.tls(tls, role: .client, accepting: [accepting])
    }

    func channel(accepted first: UInt8) throws(SecurityFault) -> SecureChannel? {
        if first == 0x16, let tls {
            return try SecureChannel.tls(tls, role: .server, accepting: engine.acceptedFingerprints)
        }
        return first == UInt8(ascii: "M") && engine.awaitsPlain ? .plain() : nil  // [enc.required]
    }

    func secured(_ wire: Wire) throws(SecurityFault) {
        engine.secured(wire.id, try wire.secured(), nonce: randomness.bytes(32), at: loop.now)
    }

    func receive(_ bytes: Span<UInt8>, on wire: Wire) -> Int {
        engine.receive(bytes, on: wire.id, at: loop.now)
    }

    func ended(_ id: ConnectionID, _ setback: Setback, hasAlert: Bool) {
        engine.ended(id, setback, hasAlert: hasAlert, at: loop.now)
    }

    func takeDue() -> [ConnectionID] { engine.links.takeDue() }
    func wantsInput(_ wire: Wire) -> Bool { engine.links.wantsInput(wire.id, unsent: wire.unsent) }

    func fill(_ wire: Wire) {
        let outlet = wire.seat?.outlet
        let sent = engine.fill(wire.id, into: &wire.frames, upTo: Sockets.frames, at: loop.now)
        outlet?.released(messages: sent.messages, bytes: sent.bytes)
    }
}

// MARK: accepting

extension SessionDriver {
    func accepted(from address: [UInt8]) -> ConnectionID? { engine.accepted(from: address, at: loop.now) }

    func listen() throws(SessionFault) {
        guard sockets.acceptor == nil else { return }
        guard !isOver else { throw .refused(EndReason(code: .left)) }
        try SessionFault.network { () throws(SocketFault) in
            try listen(at: Acceptor(configuration.listening, on: loop))
        }
    }
}
