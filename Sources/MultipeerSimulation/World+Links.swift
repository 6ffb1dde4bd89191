import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the machines decided

extension World {
    /// Bytes under way on a connection, at the most: its buffers are full then.
    private static let window = 131_072

    /// Carries out and writes until nothing more is wanted, then sets the timer.
    func settle(_ node: Node) {
        guard node.isRunning else { return }
        carryOut(node)
        while failure == nil, !node.dirty.isEmpty {
            let due = node.dirty
            node.dirty = []
            for socket in due {
                socket.isDirty = false
                flush(socket, of: node)
            }
            carryOut(node)
        }
        if node.isLeaving { return leave(node) }
        setTimer(node)
    }

    func soil(_ socket: Socket, of node: Node) {
        guard !socket.isDirty else { return }
        socket.isDirty = true
        node.dirty.append(socket)
    }

    func carryOut(_ node: Node) {
        // Nothing was said to the machines since they were asked.
        guard node.mayAct else { return }
        while failure == nil {
            let actions = node.mesh.takeActions()
            if actions.isEmpty {
                node.mayAct = false
                return
            }
            node.isTouched = true
            for action in actions { carryOut(action, of: node) }
        }
    }

    private func carryOut(_ action: Mesh.Action, of node: Node) {
        switch action {
        case .dial(let id, let candidate, let key):
            note(1, node, id)
            dial(id, candidate, key, from: node)
        case .send(let id, let frames):
            guard let socket = live(id, node, "sent") else { return }
            send(.bytes(frames), on: socket.wire, toward: 1 - socket.end)
        case .close(let id, let code): part(id, code, of: node)
        case .ask(let uid, let id):
            guard live(id, node, "asked about") != nil else { return }
            node.mesh.decide(uid, asked: id, isTrusted: true, at: moment(node))
        case .link(let id, let data, let remote, let isMesh): link(id, data, remote, isMesh, of: node)
        case .end(let id, let reason, let code):
            guard let socket = live(id, node, "ended"), let seat = socket.seat else {
                return fail(.dead, "peer \(node.index) ended link \(id.rawValue), which is none")
            }
            end(socket, seat, reason, telling: code, of: node)
        case .probe(let id):
            guard let socket = live(id, node, "probed"), let seat = socket.seat else {
                return fail(.dead, "peer \(node.index) probed link \(id.rawValue), which is none")
            }
            seat.link.probe()
            soil(socket, of: node)
        case .tell(let id, let entry):
            guard let socket = live(id, node, "told about"), let seat = socket.seat else {
                return fail(.dead, "peer \(node.index) told link \(id.rawValue), which is none")
            }
            if node.liar?.keepsNews(of: entry.origin, from: node.endpoint, at: now) == true { return }
            seat.link.say(.members(entry))
            soil(socket, of: node)
        case .state(let peer, let state): heard(peer, state, of: node)
        case .settled(let uid, let reason): settled(uid, reason, of: node)
        case .leave: node.isLeaving = true
        case .renew: if (try? meshData(of: node, for: nil)) == nil { node.mesh.postponeRenewal() }
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

    /// Tells the code when frames can be told, and ends the connection.
    private func part(_ id: ConnectionID, _ code: CloseCode, of node: Node) {
        note(2, node, id)
        guard let socket = live(id, node, "closed") else { return }
        if code != .ok, !blames(code, node, socket) { return }
        if socket.phase == .framed, code != .ok {
            var frame = ByteBuffer()
            Frame.close(code, reason: "").encode(into: &frame)
            send(.bytes(frame.takeAll()), on: socket.wire, toward: 1 - socket.end)
        }
        if socket.phase != .connecting { send(.fin, on: socket.wire, toward: 1 - socket.end) }
        say("\(node.index) closes \(name(socket)) with \(code)")
        close(socket, of: node)
    }

    /// Honest peers give each other no cause for such codes. Answers false when the run is over for that.
    private func blames(_ code: CloseCode, _ node: Node, _ socket: Socket) -> Bool {
        guard
            [.protocolError, .badMAC, .tooLarge, .flow, .flood, .version, .internal, .digest].contains(code)
        else { return true }
        let other = socket.remote
        guard node.isHonest, other < 0 || nodes[other].isHonest else { return true }
        fail(.credit, "peer \(node.index) closed \(name(socket)) with \(code)")
        return false
    }

    func name(_ socket: Socket) -> String {
        "wire \(socket.wire.number) (\(socket.wire.nodes[socket.end])-\(socket.remote))"
    }
}

// MARK: links

extension World {
    private func link(
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
        let limits = node.mesh.local.limits
        let link = Link(
            Link.Configuration(
                local: limits, remote: remote, greaseKind: Grease.frameKind(dice.next()), isMesh: isMesh),
            now: moment(node))
        let seat = Seat(link, to: data, isMesh: isMesh, since: now)
        socket.seat = seat
        socket.wire.record.instances[socket.end] = node.endpoint.instance
        socket.wire.record.credit[socket.end] = UInt64(remote.messageCredit)
        node.links.append(socket)
        node.departed[data.endpoint] = nil
        soil(socket, of: node)
    }

    func end(_ socket: Socket, _ seat: Seat, _ reason: EndReason, telling code: CloseCode, of node: Node) {
        seat.link.close(code, at: moment(node))
        takeMessages(socket, seat, of: node)
        ended(socket, seat, reason, of: node)
    }

    /// Takes what a link has ready: messages, then what is rare, then its end.
    func collect(_ socket: Socket, _ seat: Seat, of node: Node) {
        takeMessages(socket, seat, of: node)
        while failure == nil, let event = seat.link.nextEvent() {
            switch event {
            case .probeAnswered:
                node.mesh.probeAnswered(by: seat.peer.uid, at: moment(node))
                node.isTouched = true
            case .members(let entry):
                counts.entries += 1
                seat.hasTold = true
                if let violation = node.mesh.membersArrived(entry, on: socket.id, at: moment(node)) {
                    seat.link.violated(violation)
                }
                node.isTouched = true
            case .markReached, .roundTrip, .datagramOffered, .code: break
            }
        }
        guard socket.seat === seat, let end = seat.link.end else { return }
        if case .violation(let violation) = end, node.isHonest, nodes[socket.remote].isHonest {
            fail(.credit, "peer \(node.index) ended \(name(socket)): \(violation)")
        }
        ended(socket, seat, end == .lost ? EndReason(code: .lost) : EndReason(end), of: node)
    }

    private func ended(_ socket: Socket, _ seat: Seat, _ reason: EndReason, of node: Node) {
        guard socket.seat === seat, let place = node.links.firstIndex(where: { $0 === socket }) else {
            return fail(.links, "\(name(socket)) ended, but it was no link")
        }
        note(4, node, socket.id)
        say("\(node.index) ends \(name(socket)): \(reason)")
        node.links.remove(at: place)
        socket.seat = nil
        if socket.phase == .framed {
            var last = ByteBuffer()
            _ = seat.link.fill(&last, upTo: 65_536, now: moment(node))
            if !last.isEmpty { write(last.takeAll(), socket) }
            send(.fin, on: socket.wire, toward: 1 - socket.end)
            close(socket, of: node)
        }
        socket.wire.record.sent[socket.end] -= seat.link.queuedMessages
        watchEnd(socket, seat, reason, node)
        let statistics = seat.link.statistics
        // As in the driver: a peer that waits for SELECTED answers PING, too.
        let hasAnswered = statistics.roundTrip != nil && reason.closeCode != .timeout
        let wasUsed = statistics.messagesReceived > 0 || hasAnswered
        // What ended before it was used may be sought for the rest of the attempt, in the mesh or not.
        if !wasUsed { node.sought.insert(seat.peer.uid) }
        node.mesh.linkEnded(socket.id, of: seat.peer.uid, reason, wasUsed: wasUsed, at: moment(node))
        node.isTouched = true
    }

    private func flush(_ socket: Socket, of node: Node) {
        guard let seat = socket.seat, socket.phase == .framed else { return }
        let far = 1 - socket.end
        var output = ByteBuffer()
        while seat.link.wantsToSend, socket.wire.pipes[far].held < World.window {
            _ = seat.link.fill(&output, upTo: 65_536, now: moment(node))
            if output.isEmpty { break }
            write(output.takeAll(), socket)
        }
        if seat.link.wantsToSend { socket.wire.pipes[far].isFull = true }
        if seat.link.end != nil { collect(socket, seat, of: node) }
    }

    /// Everything that the peer's credit allows, whatever the buffers hold.
    func flushAll(_ socket: Socket, _ seat: Seat, of node: Node) {
        var output = ByteBuffer()
        while seat.link.wantsToSend {
            _ = seat.link.fill(&output, upTo: 65_536, now: moment(node))
            if output.isEmpty { break }
            write(output.takeAll(), socket)
        }
        if seat.link.end != nil { collect(socket, seat, of: node) }
    }

    /// Puts frames on the way, with an eye on what they are.
    func write(_ frames: [UInt8], _ socket: Socket) {
        watchFrames(frames, socket)
        guard frames.count > 1_460, dice.hits(oneIn: 4) else {
            return send(.bytes(frames), on: socket.wire, toward: 1 - socket.end)
        }
        let middle = dice.roll(1...(frames.count - 1))
        send(.bytes(Array(frames[..<middle])), on: socket.wire, toward: 1 - socket.end)
        send(.bytes(Array(frames[middle...])), on: socket.wire, toward: 1 - socket.end)
    }

    /// Bytes came: frames of an introduction, or of a link.
    func absorb(_ bytes: [UInt8], _ socket: Socket, of node: Node) {
        guard socket.phase == .framed else { return }
        socket.heardAt = now
        var offset = 0
        do throws(FramingError) {
            while offset < bytes.count, socket.phase == .framed, failure == nil {
                let rest = bytes.span.extracting(offset..<bytes.count)
                if let seat = socket.seat {
                    let used = seat.link.receive(rest, through: &socket.decoder, at: moment(node))
                    offset += used
                    soil(socket, of: node)
                    collect(socket, seat, of: node)
                    if used == 0 { return }
                } else {
                    var one = OneFrame()
                    offset += try socket.decoder.decode(rest, into: &one)
                    guard let header = one.header else { return }
                    node.mesh.receive(socket.id, header, one.payload.span, at: moment(node))
                    node.isTouched = true
                    carryOut(node)
                }
            }
        } catch {
            node.mesh.violated(socket.id, error.closeCode, at: moment(node))
            node.isTouched = true
            carryOut(node)
        }
    }

    /// The mesh has too many members, and this one gives way.
    private func leave(_ node: Node) {
        say("\(node.index) is evicted")
        node.evictions += 1
        counts.evictions += 1
        let reason = EndReason(code: .full, closeCode: .full, detail: "the mesh had too many members")
        node.mesh.cancelAll(at: moment(node))
        for socket in node.links {
            if let seat = socket.seat { end(socket, seat, reason, telling: .full, of: node) }
        }
        node.isTouched = true
        carryOut(node)
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
        node.dirty = []
        renew(node)
        settle(node)
    }
}
