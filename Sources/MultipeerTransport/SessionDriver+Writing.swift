import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerSecurity

// MARK: writing

extension SessionDriver {
    /// Fills, seals and sends until the socket or the work is exhausted; at most about 256 KiB a turn, so that a message
    /// that comes meanwhile, in either direction, does not wait for much more.
    func flush(_ wire: Wire) {
        var budget = 262_144
        do throws(SecurityFault) {
            while wires[wire.id] === wire, wire.phase != .connecting {
                try seal(wire)
                guard let waiting = wire.channel?.outputCount, waiting > 0 else { return drained(wire) }
                guard send(wire) else { return }
                budget -= waiting
                if budget <= 0 {
                    unfinished.insert(wire.id)
                    return loop.wake(self)
                }
            }
        } catch {
            lost(wire, .security(error))
        }
    }

    private func seal(_ wire: Wire) throws(SecurityFault) {
        guard let waiting = wire.channel?.outputCount, waiting < SessionDriver.sealing else { return }
        guard wire.phase == .framed || wire.isParting else { return }
        let outlet = wire.seat?.outlet
        let sent = engine.fill(wire.id, into: &wire.frames, upTo: SessionDriver.frames, at: loop.now)
        outlet?.released(messages: sent.messages, bytes: sent.bytes)
        carryOut()
        if !wire.frames.isEmpty { try wire.channel?.write(contentsOf: &wire.frames) }
    }

    /// False when the socket is full or gone.
    private func send(_ wire: Wire) -> Bool {
        switch wire.transmit() {
        case .sent:
            return true
        case .wouldBlock:
            let takesInput = engine.wantsInput(wire.id, unsent: wire.unsent)
            want(takesInput ? [.readable, .writable] : .writable, of: wire)
            return false
        case .failed(let fault):
            lost(wire, .unreachable(fault.description))
            return false
        }
    }

    private func drained(_ wire: Wire) {
        want(.readable, of: wire)
        if wires[wire.id] === wire, wire.sayFarewell() { dirty.insert(wire.id) }
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
