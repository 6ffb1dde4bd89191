import MultipeerCore
import MultipeerEngine
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
        engine.advance(to: loop.now)
        carryOut()
        for wire in Array(wires.values) {
            if let seat = wire.seat { advanceDatagrams(wire, seat) }
        }
        if let acceptResumes, acceptResumes <= loop.now { resumeAccepting() }
        loop.wantsTurnEnd(self)
    }

    /// What callers left since the last time: messages, pieces, and credit for what was taken. Only those links are
    /// looked at that have something.
    func takeFromCallers() {
        for sum in consumed.take().sums {
            if sum.key < 0 { datagramsConsumed(sum.cost, key: sum.key) }
            guard let id = UInt32(exactly: sum.key).map(ConnectionID.init(rawValue:)) else { continue }
            engine.consumed(sum.cost, on: id)
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
        if !messages.isEmpty { engine.enqueue(messages, on: id) }
    }

    /// Carries out every decision, writes what is due, delivers in one batch and sets the next deadline.
    func settle() {
        carryOut()
        // Writing can end a connection, which can make others be dialled or selected: until nothing is left to write.
        while case let due = takeDue(), !due.isEmpty {
            for id in due { wires[id].map { flush($0) } }
            carryOut()
        }
        deliver()
        setDeadline()
    }

    private func takeDue() -> [ConnectionID] {
        let wanted = engine.takeDue()
        if dirty.isEmpty { return wanted.count > 1 ? wanted.sorted() : wanted }
        defer { dirty.removeAll(keepingCapacity: true) }
        return dirty.union(wanted).sorted()
    }

    private func setDeadline() {
        // The loop would keep it until then.
        if isOver { return loop.setDeadline(self, nil) }
        var earliest = engine.deadline
        func note(_ moment: Moment?) {
            guard let moment else { return }
            earliest = min(earliest ?? moment, moment)
        }
        note(acceptResumes)
        for wire in wires.values { note(wire.seat?.lane?.path.deadline) }
        loop.setDeadline(self, earliest)
    }
}
