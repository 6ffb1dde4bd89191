import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

// MARK: what arrives on connections

extension SessionRunner {
    func deliver(
        _ contents: InFlightQueue.Contents, _ connection: SimulatedConnection, _ end: Int, _ node: Node
    ) {
        if end == 1, connection.sockets[1] == nil, case .clientHello = contents {
            return accept(connection, node)
        }
        guard let socket = connection.sockets[end] else {
            // This end is gone: the other end gets a reset when it still writes.
            if case .bytes = contents { reset(connection, 1 - end) }
            if case .connected = contents { return }
            if case .clientHello = contents { reset(connection, 1 - end) }
            return
        }
        switch contents {
        case .connected:
            socket.phase = .securing
            if let owner = socket.owner {
                owner.connected(socket.id, at: moment(node))
            } else {
                node.engine.connected(socket.id, at: moment(node))
            }
            network.send(.clientHello, on: connection, toward: 1)
        case .clientHello: break
        case .serverHello: serverSpoke(socket, of: node)
        case .finished: dialerFinished(socket, of: node)
        case .bytes(let bytes): absorb(bytes, socket, of: node)
        case .fin: lost(socket, .lost, of: node)
        case .alert: lost(socket, .security(.peer(.unexpectedCertificate)), of: node)
        }
    }

    private func reset(_ connection: SimulatedConnection, _ end: Int) {
        let queue = connection.inFlight[end]
        guard connection.sockets[end] != nil, !queue.hasEnded || queue.isAbandoned else { return }
        guard network.reachability.isOpen(connection.nodes[1 - end], connection.nodes[end]) else { return }
        post(.lost(connection: connection.number, end: end), after: network.delay(connection, toward: end))
    }

    private func accept(_ connection: SimulatedConnection, _ node: Node) {
        guard node.process.isUp, connection.life == node.process.life,
            connection.sockets[0] != nil || !connection.inFlight[0].hasEnded
        else {
            return reset(connection, 0)
        }
        let address = connection.dialler.flatMap { nodes[$0].candidate()?.address } ?? []
        if connection.isInvitation { return acceptInvitation(connection, from: address, node) }
        let isLeaving = node.engine.isLeaving
        guard let id = node.engine.accepted(from: address, at: moment(node)) else {
            return reset(connection, 0)
        }
        if isLeaving { fail(.links, "peer \(node.index) leaves, and accepts a connection") }
        let socket = SimulatedSocket(id, connection, 1)
        socket.phase = .securing
        connection.sockets[1] = socket
        connection.keys[1] = node.fingerprint
        node.sockets[id] = socket
        if connection.key == nil {
            guard node.engine.awaitsPlain else {
                network.send(.fin, on: connection, toward: 0)
                return lost(socket, .lost, of: node)
            }
        } else {
            guard node.fingerprint != nil else {
                network.send(.fin, on: connection, toward: 0)
                return lost(socket, .lost, of: node)
            }
            socket.isWelcome =
                node.engine.acceptedPins.contains { $0.fingerprint == connection.keys[0] }
        }
        network.send(.serverHello, on: connection, toward: 0)
    }

    private func acceptInvitation(_ connection: SimulatedConnection, from address: [UInt8], _ node: Node) {
        guard let id = node.asked.engine.accepted(from: address, at: moment(node)) else {
            return reset(connection, 0)
        }
        let socket = SimulatedSocket(id, connection, 1, of: node.asked)
        socket.phase = .securing
        connection.sockets[1] = socket
        node.asked.sockets[id] = socket
        network.send(.serverHello, on: connection, toward: 0)
        settle(node)
    }

    private func serverSpoke(_ socket: SimulatedSocket, of node: Node) {
        let connection = socket.connection
        guard connection.keys[1] == connection.key || connection.key == nil else {
            network.send(.alert, on: connection, toward: 1)
            return lost(socket, .security(.peer(.unexpectedCertificate)), of: node)
        }
        network.send(.finished, on: connection, toward: 1)
        secured(socket, showing: connection.key == nil ? nil : connection.keys[1], of: node)
    }

    private func dialerFinished(_ socket: SimulatedSocket, of node: Node) {
        guard socket.isWelcome else {
            network.send(.alert, on: socket.connection, toward: 0)
            return lost(socket, .security(.peer(.unexpectedCertificate)), of: node)
        }
        secured(socket, showing: socket.connection.key == nil ? nil : socket.connection.keys[0], of: node)
    }

    private func secured(_ socket: SimulatedSocket, showing key: Fingerprint?, of node: Node) {
        socket.phase = .framed
        let remote = socket.connection.nodes[1 - socket.end]
        let other = nodes.indices.contains(remote) ? nodes[remote] : nil
        if let owner = socket.owner {
            owner.secured(socket.id, keyedUID: other?.keyedUID, at: moment(node))
            return settle(node)
        }
        // A connection of no node shows a key of its own, and so does one that a twin made.
        let keyedUID = other?.fingerprint == key ? other?.keyedUID : nil
        let channel: SecuredChannel =
            key.map { .encrypted($0, keyedUID: keyedUID, binding: socket.connection.binding) } ?? .plain
        node.engine.secured(socket.id, channel, nonce: random.bytes(32), at: moment(node))
        carryOut(node)
    }

    func lost(_ socket: SimulatedSocket, _ setback: ConnectionFailure, of node: Node) {
        guard socket.isHeld(by: node) else { return }
        if let owner = socket.owner {
            owner.ended(socket.id, setback, at: moment(node))
        } else {
            node.engine.ended(socket.id, setback, at: moment(node))
        }
        carryOut(node)
    }

    /// Closes a connection for the process; its system ends this side.
    func close(_ socket: SimulatedSocket, of node: Node) {
        if socket.phase != .connecting { endSide(socket) }
        socket.phase = .over
        socket.connection.sockets[socket.end] = nil
        if let owner = socket.owner { owner.sockets[socket.id] = nil } else { node.sockets[socket.id] = nil }
        if socket.linkState == nil { node.closedTo[socket.remote] = now }
    }

    func endSide(_ socket: SimulatedSocket) {
        guard !socket.hasEnded else { return }
        socket.hasEnded = true
        network.send(.fin, on: socket.connection, toward: 1 - socket.end)
    }
}
