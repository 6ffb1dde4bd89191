import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the engine wants

extension World {
    /// Bytes under way on a connection, at most: its buffers are full then.
    private static let window = 131_072

    /// Carries out and writes until nothing more is wanted, then sets the timer.
    func settle(_ node: Node) {
        guard node.isRunning else { return }
        carryOut(node)
        while failure == nil, case let due = node.engine.takeDue(), !due.isEmpty {
            for id in due {
                guard let socket = node.sockets[id] else { continue }
                flush(socket, of: node)
            }
            carryOut(node)
        }
        setTimer(node)
    }

    func carryOut(_ node: Node) {
        while failure == nil, case let outputs = node.engine.takeOutputs(), !outputs.isEmpty {
            for output in outputs where failure == nil { carryOut(output, of: node) }
        }
    }

    private func carryOut(_ output: SessionEngine.Output, of node: Node) {
        switch output {
        case .dial(let id, let candidate, let key):
            note(1, node, id)
            dial(id, candidate, key, from: node)
        case .finish(let id):
            note(2, node, id)
            guard let socket = live(id, node, "closed") else { return }
            say("\(node.index) closes \(name(socket))")
            socket.isFinishing = true
        case .drop(let id):
            note(7, node, id)
            guard let socket = live(id, node, "dropped") else { return }
            close(socket, of: node)
        case .ask(let uid, let id):
            guard live(id, node, "asked about") != nil else { return }
            node.engine.decide(uid, asked: id, isTrusted: true, at: moment(node))
        case .renewData: if (try? meshData(of: node, for: nil)) == nil { node.engine.postponeRenewal() }
        case .deriveVerificationKey(let id):
            guard let socket = live(id, node, "wants the key of") else { return }
            var (key, nonce) = (socket.wire.binding, dice.bytes(32))
            node.engine.verificationKey(
                id, key: SecureBytes(erasing: &key), nonce: SecureBytes(erasing: &nonce), at: moment(node))
        case .linked(let id, let data, let remote, let isMesh): linked(id, data, remote, isMesh, of: node)
        case .messages(let id, let messages):
            guard let socket = live(id, node, "heard on"), let seat = socket.seat else {
                return fail(.dead, "peer \(node.index) took messages of \(id.rawValue), which is no link")
            }
            take(messages, socket, seat, of: node)
        case .unlinked(let id, _, let reason):
            guard let socket = live(id, node, "ended"), let seat = socket.seat else {
                return fail(.dead, "peer \(node.index) ended link \(id.rawValue), which is none")
            }
            ended(socket, seat, reason, of: node)
        case .state(let peer, let state): heard(peer, state, of: node)
        case .settled(let uid, let reason): settled(uid, reason, of: node)
        case .left: left(node)
        case .evicted: say("\(node.index) is evicted")
        case .channels, .relieved, .markReached, .datagramsOffered, .verificationRequested, .verified: break
        }
    }

    private func note(_ kind: UInt64, _ node: Node, _ id: ConnectionID) {
        trace.note(kind, node.index, Int(id.rawValue), at: now)
    }

    private func live(_ id: ConnectionID, _ node: Node, _ verb: String) -> Socket? {
        if let socket = node.sockets[id] { return socket }
        fail(.dead, "peer \(node.index) \(verb) connection \(id.rawValue), which is over")
        return nil
    }

    func name(_ socket: Socket) -> String {
        "wire \(socket.wire.number) (\(socket.wire.nodes[socket.end])-\(socket.remote))"
    }
}

// MARK: links

extension World {
    private func linked(
        _ id: ConnectionID, _ data: ConnectionData, _ remote: LinkLimits, _ isMesh: Bool, of node: Node
    ) {
        note(3, node, id)
        counts.links += 1
        guard let socket = live(id, node, "linked") else { return }
        guard socket.seat == nil else { return fail(.links, "\(name(socket)) became a link twice") }
        if node.links.count >= cap - 1 {
            fail(.seats, "peer \(node.index) has \(node.links.count + 1) links")
        }
        if node.link(to: data.peer.uid) != nil {
            fail(.seats, "peer \(node.index) has two links to \(data.peer.displayName)")
        }
        say("\(node.index) links \(name(socket))\(isMesh ? "" : ", direct")")
        socket.seat = Seat(data, isMesh: isMesh, since: now)
        socket.wire.record.instances[socket.end] = node.endpoint.instance
        socket.wire.record.credit[socket.end] = UInt64(remote.messageCredit)
        node.links.append(socket)
        node.departed[data.endpoint] = nil
    }

    private func ended(_ socket: Socket, _ seat: Seat, _ reason: EndReason, of node: Node) {
        guard let place = node.links.firstIndex(where: { $0 === socket }) else {
            return fail(.links, "\(name(socket)) ended, but it was no link")
        }
        note(4, node, socket.id)
        say("\(node.index) ends \(name(socket)): \(reason)")
        node.links.remove(at: place)
        socket.seat = nil
        socket.wire.record.sent[socket.end] -= reason.undelivered.messages
        if reason.code == .protocolViolation, !isExcusable(reason.closeCode, socket) {
            fail(.credit, "peer \(node.index) ended \(name(socket)): \(reason)")
        }
        watchEnd(socket, seat, reason, node)
        // What ended before it was used may be sought for the rest of the attempt, in the mesh or not.
        if now - seat.since < World.attempt, node.engine.mesh.awaits(seat.peer.uid) {
            node.sought.insert(seat.peer.uid)
        }
    }

    private static let attempt: Int64 = 35_000_000_000

    func flush(_ socket: Socket, of node: Node) {
        guard socket.phase == .framed, !socket.hasEnded else { return }
        let far = 1 - socket.end
        while socket.wire.pipes[far].held < World.window {
            var output = ByteBuffer()
            _ = node.engine.fill(socket.id, into: &output, upTo: 65_536, at: moment(node))
            if output.isEmpty {
                if socket.isFinishing { endSide(socket) }
                return
            }
            write(output.takeAll(), socket, of: node)
        }
        socket.wire.pipes[far].isFull = true
    }

    /// Puts frames on the way, with an eye on what they are.
    func write(_ frames: [UInt8], _ socket: Socket, of node: Node) {
        var frames = frames
        if let liar = node.liar { frames = liar.withoutNews(frames, from: node.endpoint, at: now) }
        watchFrames(frames, socket)
        guard frames.count > 1_460, dice.hits(oneIn: 4) else {
            return send(.bytes(frames), on: socket.wire, toward: 1 - socket.end)
        }
        let middle = dice.roll(1...(frames.count - 1))
        send(.bytes(Array(frames[..<middle])), on: socket.wire, toward: 1 - socket.end)
        send(.bytes(Array(frames[middle...])), on: socket.wire, toward: 1 - socket.end)
    }

    /// Bytes came.
    func absorb(_ bytes: [UInt8], _ socket: Socket, of node: Node) {
        guard socket.phase == .framed else { return }
        socket.heardAt = now
        var offset = 0
        while offset < bytes.count, socket.phase == .framed, failure == nil {
            let rest = bytes.span.extracting(offset..<bytes.count)
            offset += node.engine.receive(rest, on: socket.id, at: moment(node))
            if offset < bytes.count { carryOut(node) }
        }
    }

    /// No connection is left: the next instance begins.
    private func left(_ node: Node) {
        if !node.isDeparting {
            node.evictions += 1
            counts.evictions += 1
        }
        for uid in node.attempts.keys.sorted() where node.attempts[uid] ?? 0 > 0 {
            fail(.outcomes, "peer \(node.index) left while an attempt waited for its outcome")
        }
        for uid in node.heard.keys.sorted() where node.heard[uid] != .notConnected {
            fail(
                .states,
                "peer \(node.index) left, and a peer is still \(node.heard[uid].map { "\($0)" } ?? "")")
        }
        guard node.sockets.isEmpty || failure != nil else {
            return fail(.dead, "peer \(node.index) left with \(node.sockets.count) connections")
        }
        renew(node)
    }
}
