import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink

// MARK: what the session holds of what its peers send

extension SessionDriver {
    /// While all links together hold too much unread of channels, the fullest channel of the link that holds most goes.
    func relieveMemory() {
        while let id = ReceiveMemory().excess(held), let seat = wires[id]?.seat,
            let number = seat.link.stopFullest(.busy)
        {
            dirty.insert(id)
            guard let channel = seat.incoming.removeValue(forKey: number)?.channel else { continue }
            channel.fail(.stopped(.busy))  // [limit.memory]
            heard.append(channel)
        }
    }

    /// Bytes of channels that have come and were not taken, of all links together.
    package var heldBytes: Int { held.reduce(0) { $0 + $1.bytes } }

    /// What each link holds.
    private var held: [(id: ConnectionID, bytes: Int)] {
        wires.values.compactMap { wire in wire.seat.map { (id: wire.id, bytes: $0.link.heldBytes) } }
    }

    /// Hears whether a link has a long message to put together, and says who may.
    func giveTurn(_ wire: Wire, _ seat: Seat) {
        let report = seat.link.reassembly
        guard report.wants || seat.wantsTurn else { return }
        seat.wantsTurn = report.wants
        changeTurn { $0.report(wire.id, report, at: loop.now) }
    }

    /// The link is over.
    func takeTurn(from id: ConnectionID) { changeTurn { $0.remove(id, at: loop.now) } }

    /// Ends whoever has the turn, brings nothing and makes others wait.
    func advanceTurns() {
        guard let id = turns.advance(to: loop.now), let wire = wires[id], let seat = wire.seat else { return }
        seat.link.close(.flow, reason: "nothing came of a long message", at: loop.now)  // [limit.turn]
        collect(wire, seat)
    }

    private func changeTurn(_ change: (inout ReassemblyTurns) -> Void) {
        let before = turns.holder
        change(&turns)
        guard turns.holder != before else { return }
        for (id, mayReassemble) in [(before, false), (turns.holder, true)] {
            guard let id, let seat = wires[id]?.seat else { continue }
            seat.link.hasTurn = mayReassemble
            dirty.insert(id)
        }
    }
}
