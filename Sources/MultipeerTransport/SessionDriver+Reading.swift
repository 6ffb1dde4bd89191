import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: reading

extension SessionDriver {
    /// At most 4 receives a turn, so that one peer cannot keep the loop from the others; and none while the peer leaves
    /// so much unread that answers to it would pile up.
    func read(_ wire: Wire) {
        for _ in 0..<4 {
            if !engine.wantsInput(wire.id, unsent: wire.unsent) {
                dirty.insert(wire.id)
                return
            }
            switch wire.socket.receive(into: &ciphertext, upTo: SessionDriver.batch) {
            case .bytes(let count):
                absorb(wire)
                guard wires[wire.id] === wire, count == SessionDriver.batch else { return }
            case .wouldBlock: return
            case .endOfStream: return lost(wire, .lost)
            case .failed(let fault): return lost(wire, .unreachable(fault.description))
            }
        }
    }

    private func absorb(_ wire: Wire) {
        defer { ciphertext.removeAll() }
        if wire.isParting { return }  // [close.after]
        do throws(SecurityFault) {
            if wire.phase == .sniffing { guard try sniff(wire) else { return } }
            try ciphertext.read { (bytes) throws(SecurityFault) in try wire.channel?.receive(bytes) }
            if wire.phase == .securing { guard try secure(wire) else { return } }
            try readFrames(wire)
        } catch {
            lost(wire, .security(error))
        }
    }

    /// The first byte of an accepted connection says what it is; it never decides what it may be. [enc.no-negotiation]
    private func sniff(_ wire: Wire) throws(SecurityFault) -> Bool {
        let first = ciphertext.read { $0.isEmpty ? 0 : $0[0] }
        if first == 0x16, let tls {
            wire.channel = try SecureChannel.tls(
                tls, role: .server, accepting: engine.acceptedFingerprints)
        } else if first == UInt8(ascii: "M"), engine.awaitsPlain {  // [enc.required]
            wire.channel = SecureChannel.plain()
        } else {
            lost(wire, .lost)
            return false
        }
        wire.phase = .securing
        return true
    }

    private func secure(_ wire: Wire) throws(SecurityFault) -> Bool {
        dirty.insert(wire.id)
        guard try wire.channel?.handshake() == true else { return false }
        wire.phase = .framed
        engine.secured(
            wire.id, try secured(wire), nonce: try Randomness.bytes(32), at: loop.now)
        carryOut()
        return wires[wire.id] === wire
    }

    private func secured(_ wire: Wire) throws(SecurityFault) -> SecuredChannel {
        guard wire.channel?.isEncrypted == true else { return .plain }
        guard let fingerprint = wire.channel?.peerFingerprint,
            let binding = try wire.channel?.exportKey(label: "EXPORTER-mpc1-binding", context: [], count: 32)
        else { throw .internal("an encrypted channel shows no certificate") }
        return .encrypted(fingerprint, binding: binding)
    }

    private func readFrames(_ wire: Wire) throws(SecurityFault) {
        while true {
            guard let result = try wire.channel?.read(into: &plaintext, upTo: SessionDriver.batch) else {
                return
            }
            switch result {
            case .bytes:
                decode(wire)
                plaintext.removeAll()
                if wires[wire.id] !== wire || wire.isParting { return }
            case .needsInput: return
            case .closed: return lost(wire, .lost)
            }
        }
    }

    private func decode(_ wire: Wire) {
        let now = loop.now
        while !plaintext.isEmpty, wires[wire.id] === wire {
            let used = plaintext.read { engine.receive($0, on: wire.id, at: now) }
            plaintext.discard(used)
            carryOut()
        }
    }
}
