import MultipeerCore
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the loop brings

extension SessionDriver {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.handle(token, readiness) }
    }

    nonisolated package func deadlineReached() { assumeIsolated { $0.advance() } }
    nonisolated package func poked() { assumeIsolated { $0.takeFromCallers() } }
    nonisolated package func turnEnded() { assumeIsolated { $0.settle() } }

    private func handle(_ token: Int, _ readiness: Readiness) {
        if token <= DatagramPorts.firstToken {
            handleDatagrams(token, readiness)
            return deliver()
        }
        if token < 0 { return accept(from: token) }
        guard let id = UInt32(exactly: token).map(ConnectionID.init(rawValue:)), let wire = wires[id] else {
            return
        }
        if wire.phase == .connecting { return finishDialling(wire) }
        if readiness.contains(.writable) { dirty.insert(id) }
        if readiness.contains(.readable) || readiness.contains(.failed) { read(wire) }
        // Here and not only at the end of the turn: a reader on the loop then answers within this turn.
        deliver()
    }

    private func advance() {
        let now = loop.now
        mesh.advance(to: now)
        // What was decided about a link comes before the link itself: it may be dead by now, too.
        carryOut()
        for wire in Array(wires.values) {
            if case .parting(let deadline) = wire.phase, deadline <= now { close(wire) }
            guard let seat = wire.seat else { continue }
            seat.link.advance(to: now)
            seat.verification?.advance(to: now)
            dirty.insert(wire.id)
            collect(wire, seat)
            advanceDatagrams(wire, seat)
        }
        advanceTurns()
        if let acceptResumes, acceptResumes <= now { resumeAccepting() }
        if let leaveDeadline, leaveDeadline <= now { leaveNow() }
        loop.wantsTurnEnd(self)
    }

    /// What callers left since the last time: messages, pieces, and credit for what was taken. Only those links are
    /// looked at that have something.
    func takeFromCallers() {
        for sum in consumed.take().sums {
            if sum.key < 0 { datagramsConsumed(sum.cost, key: sum.key) }
            guard let id = UInt32(exactly: sum.key).map(ConnectionID.init(rawValue:)) else { continue }
            wires[id]?.seat?.link.consumed(sum.cost)
            dirty.insert(id)
        }
        for errand in errands.takeAll() {
            switch errand {
            case .messages(let id): takeMessages(of: id)
            case .datagrams(let id): takeDatagrams(of: id)
            case .writer(let key): serveWriter(key)
            case .reader(let key): serveReader(key)
            }
        }
        dirty.formUnion(unfinished)
        unfinished = []
        loop.wantsTurnEnd(self)
    }

    func takeMessages(of id: ConnectionID) {
        guard let seat = wires[id]?.seat else { return }
        let messages = seat.outlet.take()
        if !messages.isEmpty { seat.link.enqueue(messages) }
        dirty.insert(id)
    }

    /// Carries out every decision, writes what is due, delivers in one batch and sets the next deadline.
    func settle() {
        carryOut()
        // Writing can end a connection, which can make others be dialled or selected: until nothing is left to write.
        while !dirty.isEmpty {
            let due = dirty.sorted()
            dirty = []
            for id in due { wires[id].map { flush($0) } }
            carryOut()
        }
        deliver()
        finishLeaving()
        setDeadline()
    }

    private func setDeadline() {
        // The loop would keep it until then.
        if isOver { return loop.setDeadline(self, nil) }
        var earliest = mesh.deadline
        func note(_ moment: Moment?) {
            guard let moment else { return }
            earliest = min(earliest ?? moment, moment)
        }
        note(acceptResumes)
        note(leaveDeadline)
        note(turns.deadline)
        for wire in wires.values {
            note(wire.deadline)
            note(wire.seat?.verification?.deadline)
            note(wire.seat?.lane?.path.deadline)
        }
        loop.setDeadline(self, earliest)
    }
}
