import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

/// Runs the engines: gives them what the network brings, and carries out their actions.
final class SessionRunner: Subsystem {
    let world: World

    init(_ world: World) { self.world = world }

    /// The most bytes in flight on a connection: its buffers are full then.
    private static let window = 131_072
    /// The most bytes that are written at once.
    private static let room = 65_536

    /// Carries out actions and writes until there is nothing left to do, then sets the timer.
    func run(_ node: Node) {
        guard node.isRunning else { return }
        carryOut(node)
        while failure == nil, case let due = node.engine.links.takeDue(), !due.isEmpty {
            for id in due {
                guard let socket = node.sockets[id] else { continue }
                flush(socket, of: node)
            }
            carryOut(node)
        }
        flushInvitations(node)
        observer.watchMemory(node)
        watchWriting(node)
        world.setTimer(node)
    }

    /// Checks that everything that a link could write was written, unless the connection is full.
    private func watchWriting(_ node: Node) {
        guard failure == nil, node.isRunning else { return }
        for id in node.engine.links.unwritten {
            guard let socket = node.sockets[id], socket.phase == .framed, !socket.hasEnded,
                !socket.connection.inFlight[1 - socket.end].isFull, !socket.connection.isDead
            else { continue }
            fail(.delivery, "\(name(socket)) has something to write, but did not request it")
        }
    }

    private func flushInvitations(_ node: Node) {
        for end in node.ends {
            while failure == nil, case let due = end.takeDue(), !due.isEmpty {
                for id in due { if let socket = end.sockets[id] { flush(socket, of: node) } }
                carryOut(node)
            }
        }
    }

    func carryOut(_ node: Node) {
        repeat {
            while failure == nil, case let outputs = node.engine.takeOutputs(), !outputs.isEmpty {
                for output in outputs where failure == nil { carryOut(output, of: node) }
            }
        } while invitations.carryOutInvitations(node)
    }

    private func carryOut(_ output: SessionOutput, of node: Node) {
        network.interceptor?.told(output, to: node)
        switch output {
        case .connection(.dial(let id, let candidate, accepting: let pin)):
            note(1, node, id)
            network.dial(id, candidate, pin?.fingerprint, from: node)
        case .connection(.finish(let id)):
            note(2, node, id)
            guard let socket = live(id, node, "closed") else { return }
            say("\(node.index) closes \(name(socket))")
            socket.isFinishing = true
        case .connection(.drop(let id)):
            note(7, node, id)
            guard let socket = live(id, node, "dropped") else { return }
            close(socket, of: node)
        case .ask(let uid, let id):
            guard live(id, node, "asked about") != nil else { return }
            applications.ask(node, uid, id)
        case .observe: break
        case .renewData:
            if (try? applications.data(of: node, for: nil, joinsMesh: true)) == nil {
                node.engine.postponeRenewal()
            }
        case .deriveVerificationKey(let id):
            guard let socket = live(id, node, "wants the key of") else { return }
            var (key, nonce) = (socket.connection.binding, random.bytes(32))
            node.engine.verificationKey(
                id, key: SecureBytes(erasing: &key), nonce: SecureBytes(erasing: &nonce), at: moment(node))
        case .linked(let id, let data, let remote, let isMesh): linked(id, data, remote, isMesh, of: node)
        case .messages(let id, let messages):
            guard let socket = live(id, node, "received on"), let linkState = socket.linkState else {
                return fail(.dead, "peer \(node.index) received messages of \(id.rawValue), not a link")
            }
            observer.take(messages, socket, linkState, of: node)
        case .unlinked(let id, _, let reason):
            guard let socket = live(id, node, "ended"), let linkState = socket.linkState else {
                return fail(.dead, "peer \(node.index) ended \(id.rawValue), which is not a link")
            }
            ended(socket, linkState, reason, of: node)
        case .state(let peer, let state): observer.heard(peer, state, of: node)
        case .settled(let uid, let reason): observer.settled(uid, reason, of: node)
        case .left: left(node)
        case .connectEnded(let request, let reason): invitations.connectEnded(request, reason, of: node)
        case .abandoned(let request): invitations.abandoned(request, of: node)
        case .datagram(let id, let order): datagrams.carryOut(order, id, of: node)
        case .channels, .relieved, .markReached, .verificationRequested, .verified, .codeConfirmed:
            tell(output, to: node)
        }
    }

    /// Passes on to the application what its links brought, besides messages.
    private func tell(_ output: SessionOutput, to node: Node) {
        switch output {
        case .channels(let id, let events):
            node.hearsChannels = true
            guard let socket = live(id, node, "notified of channels on") else { return }
            channels.heard(events, on: socket, of: node)
        case .relieved(let id, let channel):
            guard let socket = live(id, node, "was relieved on") else { return }
            channels.relieved(channel, socket)
        case .markReached(let number): applications.markReached(number, of: node)
        case .verificationRequested(let peer): applications.codeIsAsked(by: peer, of: node)
        case .verified(let numbers, let result): applications.verified(numbers, result, of: node)
        default: break
        }
    }

    private func note(_ kind: UInt64, _ node: Node, _ id: ConnectionID) {
        observer.trace.note(kind, node.index, Int(id.rawValue), at: now)
    }

    private func live(_ id: ConnectionID, _ node: Node, _ verb: String) -> SimulatedSocket? {
        if let socket = node.sockets[id] { return socket }
        fail(.dead, "peer \(node.index) \(verb) connection \(id.rawValue), which has ended")
        return nil
    }
}

// MARK: links

extension SessionRunner {
    private func linked(
        _ id: ConnectionID, _ data: ConnectionData, _ remote: LinkLimits, _ isMesh: Bool, of node: Node
    ) {
        note(3, node, id)
        observer.counts.links += 1
        guard let socket = live(id, node, "linked") else { return }
        guard socket.linkState == nil else { return fail(.links, "\(name(socket)) became a link twice") }
        if node.links.count >= cap - 1 {
            fail(.slots, "peer \(node.index) has \(node.links.count + 1) links")
        }
        if node.link(to: data.peer.uid) != nil {
            fail(.slots, "peer \(node.index) has two links to \(data.peer.displayName)")
        }
        say("\(node.index) links \(name(socket))\(isMesh ? "" : ", direct")")
        observer.watchRelink(data.peer.uid, node)
        socket.linkState = LinkState(data, isMesh: isMesh, since: now)
        socket.connection.record.instances[socket.end] = node.endpoint.instance
        socket.connection.record.credit[socket.end] = UInt64(remote.messageCredit)
        node.links.append(socket)
        node.departed[data.endpoint] = nil
        node.lost[data.endpoint] = nil
        socket.linkState?.attemptEnd = observer.attemptEnd(data.peer.uid, node)
        network.breakIfFragile(socket)
    }

    private func ended(
        _ socket: SimulatedSocket, _ linkState: LinkState, _ reason: DisconnectReason, of node: Node
    ) {
        guard let place = node.links.firstIndex(where: { $0 === socket }) else {
            return fail(.links, "\(name(socket)) ended, but it was no link")
        }
        note(4, node, socket.id)
        say("\(node.index) ends \(name(socket)): \(reason)")
        node.links.remove(at: place)
        channels.endFlows(socket)
        applications.endWaiting(socket, of: node)
        socket.linkState = nil
        socket.connection.record.sent[socket.end] -= reason.undelivered.messages
        if reason.code == .protocolViolation, !observer.isExcusable(reason.closeCode, socket) {
            fail(.credit, "peer \(node.index) ended \(name(socket)): \(reason)")
        }
        observer.watchEnd(socket, linkState, reason, node)
        noteLoss(of: linkState, reason, node)
        observer.watchResumption(socket, linkState, reason, node)
        // A peer whose link ended before it was used may be connecting for the rest of the attempt, in the mesh or not.
        if now - linkState.since < SessionRunner.attempt, node.engine.mesh.awaits(linkState.peer.uid) {
            node.application.wantedPeers.insert(linkState.peer.uid)
        }
    }

    private static let attempt: Int64 = 35_000_000_000

    /// Notes a member that the network took from a node, which holds its entry.
    private func noteLoss(of linkState: LinkState, _ reason: DisconnectReason, _ node: Node) {
        let endpoint = linkState.data.endpoint
        let isLost = linkState.isMesh && [.lost, .timedOut].contains(reason.code)
        let holdsEntry = node.mesh.entries.contains { $0.origin == endpoint }
        node.lost[endpoint] = isLost && holdsEntry ? moment(node) : nil
    }

    func flush(_ socket: SimulatedSocket, of node: Node) {
        guard socket.phase == .framed, !socket.hasEnded else { return }
        let far = 1 - socket.end
        while socket.connection.inFlight[far].held < socket.connection.rate.map({ $0 / 5 })
            ?? SessionRunner.window
        {
            var output = ByteBuffer()
            let room = socket.connection.rate == nil ? SessionRunner.room : SessionRunner.room / 4
            fill(socket, room, into: &output, of: node)
            // What does not fit is sent alone.
            if output.isEmpty, room < SessionRunner.room {
                fill(socket, SessionRunner.room, into: &output, of: node)
            }
            if output.isEmpty {
                if socket.isFinishing { endSide(socket) }
                return
            }
            write(output.takeAll(), socket, of: node)
        }
        socket.connection.inFlight[far].isFull = true
    }

    private func fill(_ socket: SimulatedSocket, _ room: Int, into output: inout ByteBuffer, of node: Node) {
        if let owner = socket.owner { return owner.fill(socket.id, into: &output) }
        _ = node.engine.fill(socket.id, into: &output, upTo: room, at: moment(node))
    }

    /// Sends frames, and inspects them.
    func write(_ frames: [UInt8], _ socket: SimulatedSocket, of node: Node) {
        var frames = frames
        if let byzantine = node.byzantine, socket.owner == nil {
            frames = byzantine.withoutNews(frames, from: node.endpoint, at: now)
        }
        observer.watchFrames(frames, socket)
        if let interceptor = network.interceptor {
            return network.send(frames, on: socket, through: interceptor)
        }
        guard frames.count > 1_460, random.chance(oneIn: 4) else {
            return network.send(.bytes(frames), on: socket.connection, toward: 1 - socket.end)
        }
        let middle = random.uniform(1...(frames.count - 1))
        network.send(.bytes(Array(frames[..<middle])), on: socket.connection, toward: 1 - socket.end)
        network.send(.bytes(Array(frames[middle...])), on: socket.connection, toward: 1 - socket.end)
    }

    /// Handles bytes that were received.
    func absorb(_ bytes: [UInt8], _ socket: SimulatedSocket, of node: Node) {
        guard socket.phase == .framed else { return }
        socket.heardAt = now
        network.interceptor?.arrived(bytes, at: socket)
        let genuine = observer.genuineKeys(node)
        var offset = 0
        while offset < bytes.count, socket.phase == .framed, failure == nil {
            let rest = bytes.span.extracting(offset..<bytes.count)
            offset +=
                socket.owner?.receive(rest, on: socket.id, at: moment(node))
                ?? node.engine.receive(rest, on: socket.id, at: moment(node))
            if offset < bytes.count { carryOut(node) }
        }
        byzantinePeers.judge(bytes, socket, of: node)
        observer.watchAuthenticity(node, since: genuine)
    }

    /// Starts the next instance: no connection is left.
    private func left(_ node: Node) {
        if !node.application.isDeparting {
            node.evictions += 1
            observer.counts.evictions += 1
        }
        if !node.application.connects.isEmpty {
            fail(.outcomes, "peer \(node.index) left while an attempt waited for its outcome")
        }
        for uid in node.application.heard.keys.sorted() where node.application.heard[uid] != .notConnected {
            fail(
                .states,
                "peer \(node.index) left, and a peer is still \(node.application.heard[uid].map { "\($0)" } ?? "")"
            )
        }
        guard node.sockets.isEmpty || failure != nil else {
            return fail(.dead, "peer \(node.index) left with \(node.sockets.count) connections")
        }
        world.renew(node)
    }
}
