import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

// MARK: reading

extension ConnectionOwner {
    /// The loop found something about the connection with this token.
    func ready(connection token: Int, _ readiness: Readiness) {
        guard let id = UInt32(exactly: token).map(ConnectionID.init(rawValue:)), let wire = sockets.wires[id]
        else { return }
        if wire.phase == .connecting { return finishDialling(wire) }
        if readiness.contains(.writable) { sockets.dirty.insert(id) }
        if readiness.contains(.readable) || readiness.contains(.failed) { read(wire) }
    }

    private func finishDialling(_ wire: Wire) {
        if let fault = wire.socket.connectionResult() {
            return lost(wire, .unreachable("\(wire.remote): \(fault)"))
        }
        connected(wire)
        do throws(SecurityFault) {
            wire.channel = try channel(dialled: wire)
            wire.phase = .securing
            want(.readable, of: wire)
            _ = try wire.channel?.handshake()
            sockets.dirty.insert(wire.id)
        } catch {
            lost(wire, .security(error))
        }
    }

    /// At most 4 receives a turn, so that one peer cannot keep the loop from the others; and none while the peer leaves
    /// so much unread that replies to it would pile up.
    private func read(_ wire: Wire) {
        for _ in 0..<4 {
            if !wantsInput(wire) {
                sockets.dirty.insert(wire.id)
                return
            }
            switch wire.socket.receive(into: &sockets.ciphertext, upTo: Sockets.batch) {
            case .bytes(let count):
                absorb(wire)
                guard sockets.wires[wire.id] === wire, count == Sockets.batch else { return }
            case .wouldBlock: return
            case .endOfStream: return lost(wire, .lost)
            case .failed(let fault): return lost(wire, .unreachable("\(wire.remote): \(fault)"))
            }
        }
    }

    private func absorb(_ wire: Wire) {
        defer { sockets.ciphertext.removeAll() }
        if wire.isParting { return }  // [close.after]
        do throws(SecurityFault) {
            if wire.phase == .sniffing { guard try sniff(wire) else { return } }
            try sockets.ciphertext.read { (bytes) throws(SecurityFault) in try wire.channel?.receive(bytes) }
            if wire.phase == .securing { guard try secure(wire) else { return } }
            try readFrames(wire)
        } catch {
            lost(wire, .security(error))
        }
    }

    /// The first byte of an accepted connection says what it is; it never decides what it may be. [enc.no-negotiation]
    private func sniff(_ wire: Wire) throws(SecurityFault) -> Bool {
        let first = sockets.ciphertext.read { $0.isEmpty ? 0 : $0[0] }
        wire.channel = try channel(accepted: first)
        guard wire.channel != nil else {
            lost(wire, .lost)
            return false
        }
        wire.phase = .securing
        return true
    }

    private func secure(_ wire: Wire) throws(SecurityFault) -> Bool {
        sockets.dirty.insert(wire.id)
        guard try wire.channel?.handshake() == true else { return false }
        wire.phase = .framed
        try secured(wire)
        carryOut()
        return sockets.wires[wire.id] === wire
    }

    private func readFrames(_ wire: Wire) throws(SecurityFault) {
        while true {
            guard let result = try wire.channel?.read(into: &sockets.plaintext, upTo: Sockets.batch) else {
                return
            }
            switch result {
            case .bytes:
                decode(wire)
                sockets.plaintext.removeAll()
                if sockets.wires[wire.id] !== wire || wire.isParting { return }
            case .needsInput: return
            case .closed: return lost(wire, .lost)
            }
        }
    }

    private func decode(_ wire: Wire) {
        while !sockets.plaintext.isEmpty, sockets.wires[wire.id] === wire {
            let used = sockets.plaintext.read { receive($0, on: wire) }
            sockets.plaintext.discard(used)
            carryOut()
        }
    }
}
