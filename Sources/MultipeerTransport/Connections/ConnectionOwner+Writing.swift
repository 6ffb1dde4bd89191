import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

// MARK: writing

extension ConnectionOwner {
    /// Writes what is due. That can end a connection, which can make others be dialled or selected: until nothing is left
    /// to write.
    func writeDue() {
        while case let due = sockets.takeDue(takeDue()), !due.isEmpty {
            for id in due { sockets.wires[id].map { flush($0) } }
            carryOut()
        }
    }

    /// Fills, seals and sends until the socket or the work is exhausted; at most about 256 KiB a turn, so that a message
    /// that comes meanwhile, in either direction, does not wait for much more.
    func flush(_ wire: Wire) {
        var budget = 262_144
        do throws(SecurityFault) {
            while sockets.wires[wire.id] === wire, wire.phase != .connecting {
                try seal(wire)
                guard let waiting = wire.channel?.outputCount, waiting > 0 else { return drained(wire) }
                guard send(wire) else { return }
                budget -= waiting
                if budget <= 0 {
                    sockets.unfinished.insert(wire.id)
                    return loop.wake(self)
                }
            }
        } catch {
            lost(wire, .security(error))
        }
    }

    private func seal(_ wire: Wire) throws(SecurityFault) {
        guard let waiting = wire.channel?.outputCount, waiting < Sockets.sealing else { return }
        guard wire.phase == .framed || wire.isParting else { return }
        fill(wire)
        carryOut()
        if !wire.frames.isEmpty { try wire.channel?.write(contentsOf: &wire.frames) }
    }

    /// False when the socket is full or gone.
    private func send(_ wire: Wire) -> Bool {
        switch wire.transmit() {
        case .sent:
            return true
        case .wouldBlock:
            want(wantsInput(wire) ? [.readable, .writable] : .writable, of: wire)
            return false
        case .failed(let fault):
            lost(wire, .unreachable("\(wire.remote): \(fault)"))
            return false
        }
    }

    private func drained(_ wire: Wire) {
        want(.readable, of: wire)
        if sockets.wires[wire.id] === wire, wire.sayFarewell() { sockets.dirty.insert(wire.id) }
    }
}
