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
        if let seat = wire.seat {
            let sent = seat.link.fill(&wire.frames, upTo: SessionDriver.frames, now: loop.now)
            seat.outlet.released(messages: sent.messages, bytes: sent.bytes)
            collectChannels(wire, seat)
            if seat.link.end != nil { collect(wire, seat) }
        }
        if wire.phase != .securing, !wire.frames.isEmpty { try wire.channel?.write(contentsOf: &wire.frames) }
    }

    /// False when the socket is full or gone.
    private func send(_ wire: Wire) -> Bool {
        switch wire.transmit() {
        case .sent:
            return true
        case .wouldBlock:
            want(wire.isCongested ? .writable : [.readable, .writable], of: wire)
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
