import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

// MARK: connections below the frames

extension World {
    static let userTimeout: Int64 = 10_000_000_000

    func dial(_ id: ConnectionID, _ candidate: Candidate, _ key: Fingerprint?, from node: Node) {
        let target = nodes.firstIndex { candidate.address == [127, 0, 0, UInt8($0.index + 1)] } ?? -1
        let wire = Wire(
            wires.count, from: node.index, to: target, candidate, key: key,
            bases: [weather.base(&dice), weather.base(&dice)], showing: node.fingerprint,
            binding: dice.bytes(32))
        wires.append(wire)
        let socket = Socket(id, wire, 0)
        wire.sockets[0] = socket
        node.sockets[id] = socket
        if target >= 0 { wire.life = nodes[target].life }
        agenda.post(.knock(wire: wire.number, attempt: 0), at: now + delay(wire, toward: 1))
    }

    private func delay(_ wire: Wire, toward end: Int) -> Int64 {
        weather.delay(base: wire.pipes[end].base, &dice)
    }

    /// The first packet of a connection. It is sent again after 1, 2, 4 … seconds, like by any kernel.
    func knock(_ wire: Wire, _ attempt: Int) {
        guard !wire.isDead, wire.sockets[0] != nil else { return }
        let (from, to) = (wire.nodes[0], wire.nodes[1])
        guard to >= 0 else {
            // An address that nobody has: one in two networks says so.
            if wire.dialled.port & 1 == 0 {
                post(.lost(wire: wire.number, end: 0), after: delay(wire, toward: 0))
            }
            return
        }
        let target = nodes[to]
        guard paths.isOpen(from, to), paths.isOpen(to, from), target.isHostUp else {
            if attempt < 4 {
                post(.knock(wire: wire.number, attempt: attempt + 1), after: 1_000_000_000 << Int64(attempt))
            }
            return
        }
        switch paths.door(from, to) {
        case .silent: return
        case .refusing: return post(.lost(wire: wire.number, end: 0), after: delay(wire, toward: 0))
        case .open: break
        }
        guard target.isUp, target.port == wire.dialled.port else {
            return post(.lost(wire: wire.number, end: 0), after: delay(wire, toward: 0))
        }
        wire.life = target.life
        send(.connected, on: wire, toward: 0)
    }

    /// Puts something on the way to `end`.
    func send(_ contents: Pipe.Contents, on wire: Wire, toward end: Int) {
        guard wire.nodes[end] >= 0 else { return }
        guard !wire.isDead else { return writtenInVain(wire, from: 1 - end) }
        let moment = wire.pipes[end].append(contents, arriving: now + delay(wire, toward: end))
        agenda.post(.arrive(wire: wire.number, end: end), at: moment)
    }

    /// Written to a connection that is dead without anybody having said so: the system finds out at last.
    private func writtenInVain(_ wire: Wire, from end: Int) {
        guard !wire.isNoticed[end] else { return }
        wire.isNoticed[end] = true
        let far = wire.nodes[1 - end]
        let isReset =
            far >= 0 && nodes[far].isHostUp && paths.isOpen(wire.nodes[end], far)
            && nodes[far].life != wire.life && dice.hits(oneIn: 2)
        let wait = isReset ? 2 * delay(wire, toward: end) : World.userTimeout
        post(.lost(wire: wire.number, end: end), after: wait)
    }

    func arrive(_ wire: Wire, _ end: Int) {
        guard !wire.isDead, !wire.pipes[end].isStalled, !wire.pipes[end].isEmpty else { return }
        let (from, to) = (wire.nodes[1 - end], wire.nodes[end])
        let node = nodes[to]
        guard paths.isOpen(from, to), node.isHostUp else {
            wire.pipes[end].isStalled = true
            return oweAcknowledgement(wire, from: 1 - end)
        }
        if node.isPaused { return node.backlog.append(.arrive(wire: wire.number, end: end)) }
        if !paths.isOpen(to, from) { oweAcknowledgement(wire, from: 1 - end) }
        while !wire.isDead, let contents = wire.pipes[end].take(by: now) {
            deliver(contents, wire, end, node)
            if failure != nil { return }
        }
        // What the sender's window held back can go now.
        if wire.pipes[end].isFull, let sender = wire.sockets[1 - end], nodes[from].isRunning {
            wire.pipes[end].isFull = false
            flush(sender, of: nodes[from])
            settle(nodes[from])
        }
        settle(node)
    }

    private func oweAcknowledgement(_ wire: Wire, from end: Int) {
        guard wire.pipes[1 - end].unacknowledged == nil else { return }
        wire.pipes[1 - end].unacknowledged = now
        post(.unacknowledged(wire: wire.number, end: end, since: now), after: World.userTimeout)
    }

    func unacknowledged(_ wire: Wire, _ end: Int, _ since: Int64) {
        guard !wire.isDead, wire.pipes[1 - end].unacknowledged == since else { return }
        noticed(wire, end, .lost(wire: wire.number, end: end))
    }

    /// The system of this end tells its process that the connection is gone.
    func noticed(_ wire: Wire, _ end: Int, _ happening: Happening) {
        guard wire.nodes[end] >= 0, let socket = wire.sockets[end] else { return }
        let node = nodes[wire.nodes[end]]
        if node.isPaused { return node.backlog.append(.lost(wire: wire.number, end: end)) }
        lost(socket, .lost, of: node)
        settle(node)
    }

    /// Everything under way is lost; nobody is told.
    func die(_ wire: Wire) { wire.isDead = true }

    func retransmit(_ wire: Wire, _ end: Int) {
        guard !wire.isDead, wire.pipes[end].isStalled, paths.isOpen(wire.nodes[1 - end], wire.nodes[end])
        else {
            return
        }
        wire.pipes[end].isStalled = false
        if paths.isOpen(wire.nodes[end], wire.nodes[1 - end]) { wire.pipes[end].unacknowledged = nil }
        arrive(wire, end)
    }

    /// Something about the paths has changed for the better.
    func recover() {
        for wire in wires where !wire.isDead && wire.nodes[1] >= 0 {
            for end in [0, 1] where paths.isOpen(wire.nodes[1 - end], wire.nodes[end]) {
                if wire.pipes[end].isStalled {
                    post(
                        .retransmit(wire: wire.number, end: end),
                        after: Int64(dice.roll(100...1_600)) * 1_000_000)
                } else if paths.isOpen(wire.nodes[end], wire.nodes[1 - end]) {
                    wire.pipes[end].unacknowledged = nil
                }
            }
        }
    }

    // MARK: what arrives

    private func deliver(_ contents: Pipe.Contents, _ wire: Wire, _ end: Int, _ node: Node) {
        if end == 1, wire.sockets[1] == nil, case .clientHello = contents { return accept(wire, node) }
        guard let socket = wire.sockets[end] else {
            // Nobody is there any more: whoever still writes is told.
            if case .bytes = contents { reset(wire, 1 - end) }
            if case .connected = contents { return }
            if case .clientHello = contents { reset(wire, 1 - end) }
            return
        }
        switch contents {
        case .connected:
            socket.phase = .securing
            send(.clientHello, on: wire, toward: 1)
        case .clientHello: break
        case .serverHello: serverSpoke(socket, of: node)
        case .finished: dialerFinished(socket, of: node)
        case .bytes(let bytes): absorb(bytes, socket, of: node)
        case .fin: lost(socket, .lost, of: node)
        case .alert: lost(socket, .security(.peer(.strangerCertificate)), of: node)
        }
    }

    private func reset(_ wire: Wire, _ end: Int) {
        guard wire.sockets[end] != nil, !wire.pipes[end].hasEnded else { return }
        guard paths.isOpen(wire.nodes[1 - end], wire.nodes[end]) else { return }
        post(.lost(wire: wire.number, end: end), after: delay(wire, toward: end))
    }

    private func accept(_ wire: Wire, _ node: Node) {
        guard node.isUp, wire.life == node.life, wire.sockets[0] != nil || !wire.pipes[0].hasEnded else {
            return reset(wire, 0)
        }
        let address = nodes[wire.nodes[0]].candidate()?.address ?? []
        guard let id = node.engine.accepted(from: address, at: moment(node)) else { return reset(wire, 0) }
        let socket = Socket(id, wire, 1)
        socket.phase = .securing
        wire.sockets[1] = socket
        wire.keys[1] = node.fingerprint
        node.sockets[id] = socket
        if wire.key == nil {
            guard node.engine.awaitsPlain else {
                send(.fin, on: wire, toward: 0)
                return lost(socket, .lost, of: node)
            }
        } else {
            guard node.fingerprint != nil else {
                send(.fin, on: wire, toward: 0)
                return lost(socket, .lost, of: node)
            }
            socket.isWelcome = wire.keys[0].map { node.engine.acceptedFingerprints.contains($0) } ?? false
        }
        send(.serverHello, on: wire, toward: 0)
    }

    private func serverSpoke(_ socket: Socket, of node: Node) {
        let wire = socket.wire
        guard wire.keys[1] == wire.key || wire.key == nil else {
            send(.alert, on: wire, toward: 1)
            return lost(socket, .security(.peer(.strangerCertificate)), of: node)
        }
        send(.finished, on: wire, toward: 1)
        secured(socket, showing: wire.key == nil ? nil : wire.keys[1], of: node)
    }

    private func dialerFinished(_ socket: Socket, of node: Node) {
        guard socket.isWelcome else {
            send(.alert, on: socket.wire, toward: 0)
            return lost(socket, .security(.peer(.strangerCertificate)), of: node)
        }
        secured(socket, showing: socket.wire.key == nil ? nil : socket.wire.keys[0], of: node)
    }

    private func secured(_ socket: Socket, showing key: Fingerprint?, of node: Node) {
        socket.phase = .framed
        let channel: SecuredChannel = key.map { .encrypted($0, binding: socket.wire.binding) } ?? .plain
        node.engine.secured(socket.id, channel, nonce: dice.bytes(32), at: moment(node))
        carryOut(node)
    }

    func lost(_ socket: Socket, _ setback: Setback, of node: Node) {
        guard node.sockets[socket.id] === socket else { return }
        node.engine.ended(socket.id, setback, at: moment(node))
        carryOut(node)
    }

    /// The process lets go of a connection; its system ends this side.
    func close(_ socket: Socket, of node: Node) {
        if socket.phase != .connecting { endSide(socket) }
        socket.phase = .over
        socket.wire.sockets[socket.end] = nil
        node.sockets[socket.id] = nil
    }

    func endSide(_ socket: Socket) {
        guard !socket.hasEnded else { return }
        socket.hasEnded = true
        send(.fin, on: socket.wire, toward: 1 - socket.end)
    }
}
