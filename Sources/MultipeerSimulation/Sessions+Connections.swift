import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

// MARK: what arrives on connections

extension Sessions {
    func deliver(_ contents: Pipe.Contents, _ wire: Wire, _ end: Int, _ node: Node) {
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
            socket.owner?.connected(socket.id, at: moment(node))
            network.send(.clientHello, on: wire, toward: 1)
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
        guard network.paths.isOpen(wire.nodes[1 - end], wire.nodes[end]) else { return }
        post(.lost(wire: wire.number, end: end), after: network.delay(wire, toward: end))
    }

    private func accept(_ wire: Wire, _ node: Node) {
        guard node.process.isUp, wire.life == node.process.life,
            wire.sockets[0] != nil || !wire.pipes[0].hasEnded
        else {
            return reset(wire, 0)
        }
        let address = wire.dialler.flatMap { nodes[$0].candidate()?.address } ?? []
        if wire.isInvitation { return acceptInvitation(wire, from: address, node) }
        let isLeaving = node.engine.isLeaving
        guard let id = node.engine.accepted(from: address, at: moment(node)) else { return reset(wire, 0) }
        if isLeaving { fail(.links, "peer \(node.index) leaves, and accepts a connection") }
        let socket = Socket(id, wire, 1)
        socket.phase = .securing
        wire.sockets[1] = socket
        wire.keys[1] = node.fingerprint
        node.sockets[id] = socket
        if wire.key == nil {
            guard node.engine.awaitsPlain else {
                network.send(.fin, on: wire, toward: 0)
                return lost(socket, .lost, of: node)
            }
        } else {
            guard node.fingerprint != nil else {
                network.send(.fin, on: wire, toward: 0)
                return lost(socket, .lost, of: node)
            }
            socket.isWelcome = wire.keys[0].map { node.engine.acceptedFingerprints.contains($0) } ?? false
        }
        network.send(.serverHello, on: wire, toward: 0)
    }

    private func acceptInvitation(_ wire: Wire, from address: [UInt8], _ node: Node) {
        let id = node.asked.engine.accepted(from: address, at: moment(node))
        let socket = Socket(id, wire, 1, of: node.asked)
        socket.phase = .securing
        wire.sockets[1] = socket
        node.asked.sockets[id] = socket
        network.send(.serverHello, on: wire, toward: 0)
        settle(node)
    }

    private func serverSpoke(_ socket: Socket, of node: Node) {
        let wire = socket.wire
        guard wire.keys[1] == wire.key || wire.key == nil else {
            network.send(.alert, on: wire, toward: 1)
            return lost(socket, .security(.peer(.strangerCertificate)), of: node)
        }
        network.send(.finished, on: wire, toward: 1)
        secured(socket, showing: wire.key == nil ? nil : wire.keys[1], of: node)
    }

    private func dialerFinished(_ socket: Socket, of node: Node) {
        guard socket.isWelcome else {
            network.send(.alert, on: socket.wire, toward: 0)
            return lost(socket, .security(.peer(.strangerCertificate)), of: node)
        }
        secured(socket, showing: socket.wire.key == nil ? nil : socket.wire.keys[0], of: node)
    }

    private func secured(_ socket: Socket, showing key: Fingerprint?, of node: Node) {
        socket.phase = .framed
        if let owner = socket.owner {
            owner.secured(socket.id, at: moment(node))
            return settle(node)
        }
        let channel: SecuredChannel = key.map { .encrypted($0, binding: socket.wire.binding) } ?? .plain
        node.engine.secured(socket.id, channel, nonce: dice.bytes(32), at: moment(node))
        carryOut(node)
    }

    func lost(_ socket: Socket, _ setback: Setback, of node: Node) {
        guard socket.isHeld(by: node) else { return }
        if let owner = socket.owner {
            owner.ended(socket.id, setback, at: moment(node))
        } else {
            node.engine.ended(socket.id, setback, at: moment(node))
        }
        carryOut(node)
    }

    /// The process lets go of a connection; its system ends this side.
    func close(_ socket: Socket, of node: Node) {
        if socket.phase != .connecting { endSide(socket) }
        socket.phase = .over
        socket.wire.sockets[socket.end] = nil
        if let owner = socket.owner { owner.sockets[socket.id] = nil } else { node.sockets[socket.id] = nil }
    }

    func endSide(_ socket: Socket) {
        guard !socket.hasEnded else { return }
        socket.hasEnded = true
        network.send(.fin, on: socket.wire, toward: 1 - socket.end)
    }
}
