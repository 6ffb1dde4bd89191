import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerMesh
import MultipeerSecurity

// MARK: what is checked while things happen

extension World {
    /// What an application heard of a peer.
    func heard(_ peer: PeerID, _ state: PeerState, of node: Node) {
        let new: PeerStates.State =
            switch state {
            case .notConnected: .notConnected
            case .connecting: .connecting
            case .connected: .connected
            }
        let old = node.heard[peer.uid] ?? .notConnected
        let isAllowed =
            switch (old, new) {
            case (.notConnected, .connecting), (.connecting, .connected), (.connecting, .notConnected),
                (.connected, .notConnected):
                true
            // A link that took over says so: notConnected, connected.
            case (.notConnected, .connected): true
            default: false
            }
        trace.note(5, node.index, Int(truncatingIfNeeded: peer.uid.low), at: now)
        say("\(node.index) hears that \(peer.displayName) is \(state)")
        if !isAllowed {
            fail(.states, "peer \(node.index) hears of \(peer.displayName): \(new) after \(old)")
        }
        node.heard[peer.uid] = new == .notConnected ? nil : new
        // A link that was lost at once is made again without a word from the application.
        if new == .notConnected, !node.mesh.awaits(peer.uid) { node.sought.remove(peer.uid) }
        node.connecting[peer.uid] = new == .connecting ? now : nil
        if keepsJournal { node.journal.append(.peer(peer, state)) }
    }

    func settled(_ uid: UID, _ reason: EndReason?, of node: Node) {
        // The mesh's own attempts are settled too; the application waits for none of those.
        node.attempts[uid] = nil
        if reason != nil { node.sought.remove(uid) }
    }

    func take(_ messages: [IncomingMessage], _ socket: Socket, _ seat: Seat, of node: Node) {
        for message in messages {
            counts.messages += 1
            check(message.bytes, socket, seat, node)
            if node.isSlow {
                seat.untaken += message.cost
            } else {
                node.engine.consumed(message.cost, on: socket.id)
            }
        }
    }

    private func check(_ message: [UInt8], _ socket: Socket, _ seat: Seat, _ node: Node) {
        if keepsJournal {
            return node.journal.append(.message(message, from: seat.peer))
        }
        let record = socket.wire.record
        let number = World.number(message, at: 0)
        let wire = World.number(message, at: 8)
        let sender = World.number(message, at: 16)
        guard message.count >= 32, wire == socket.wire.number,
            UInt64(bitPattern: Int64(sender)) == record.instances[1 - socket.end]
        else {
            return fail(.messages, "\(name(socket)) brought a message of another link")
        }
        guard number == record.received[socket.end] + 1, number <= record.sent[1 - socket.end] else {
            return fail(
                .messages,
                "\(name(socket)) brought message \(number) after \(record.received[socket.end]) of \(record.sent[1 - socket.end])"
            )
        }
        guard World.number(message, at: 24) == message.count,
            message.count == 32 || message.last == UInt8(truncatingIfNeeded: number)
        else {
            return fail(.messages, "\(name(socket)) brought message \(number) not as it was")
        }
        socket.wire.record.received[socket.end] += 1
        trace.note(6, node.index, Int(number), at: now)
    }

    func watchEnd(_ socket: Socket, _ seat: Seat, _ reason: EndReason, _ node: Node) {
        if reason.code == .timedOut, reason.closeCode == nil { watchDeath(socket, seat, node) }
        // A FULL before the first entry refuses the connection, and its sender stays.
        if reason.code == .goodbye || reason.code == .full && seat.hasTold && reason.closeCode != nil {
            node.departed[seat.data.endpoint] = moment(node)
        }
        watchCause(socket, seat, reason, node)
        let record = socket.wire.record
        if reason.code == .goodbye, !keepsJournal, record.received[socket.end] != record.sent[1 - socket.end]
        {
            fail(.messages, "\(name(socket)) ended with GOODBYE, but not all messages had come")
        }
        // Where there really are too many, some have to go, whoever lies meanwhile.
        let members = reason.code == .full ? mesh(around: [node.index, socket.remote]) : []
        if members.count > cap { for member in members { excuse(member) } }
        guard let lies = liesSince, now > lies + World.settling, node.isHonest, nodes[socket.remote].isHonest,
            seat.since < lies, record.isWhole, !isExcused(node.index), !isExcused(socket.remote)
        else { return }
        fail(.honest, "\(name(socket)) ended while a third member lied: \(reason)")
    }

    /// Who is joined with these by mesh links, whatever entries say.
    private func mesh(around some: Set<Int>) -> Set<Int> {
        var (found, frontier) = (some, Array(some))
        while let index = frontier.popLast() {
            for socket in nodes[index].links where socket.seat?.isMesh == true {
                if found.insert(socket.remote).inserted { frontier.append(socket.remote) }
            }
        }
        return found
    }

    /// Reads the headers of what a link writes. The message credit is counted a second time, by other code.
    func watchFrames(_ frames: [UInt8], _ socket: Socket) {
        var offset = 0
        while offset + FrameHeader.byteCount <= frames.count {
            let header = FrameHeader(frames.span.extracting(offset..<(offset + FrameHeader.byteCount)))
            let payload = offset + FrameHeader.byteCount
            offset = payload + header.length
            switch header.kind {
            case .message, .messagePart: spend(header.length + 64, socket)
            case .credit where header.channel == 0 && offset <= frames.count:
                // It may be used once it has arrived, so this errs to the peer's good by its way.
                let limit = World.number(frames, at: payload)
                socket.wire.record.credit[1 - socket.end] = max(
                    socket.wire.record.credit[1 - socket.end], UInt64(limit))
            case .members:
                counts.entries += 1
                socket.wire.sockets[1 - socket.end]?.seat?.hasTold = true
                if !mayCarryEntries(socket) { fail(.plain, "an entry travels on \(name(socket))") }
            case .close where offset <= frames.count:
                blame(frames.span.extracting(payload..<offset), header, socket)
            default: break
            }
        }
    }

    /// Honest peers give each other no cause for such codes.
    private func blame(_ payload: Span<UInt8>, _ header: FrameHeader, _ socket: Socket) {
        guard case .close(let code, reason: _)? = try? Frame(header, payload), socket.remote >= 0,
            [.protocolError, .badMAC, .tooLarge, .flow, .flood, .version, .internal, .digest].contains(code)
        else { return }
        let node = nodes[socket.wire.nodes[socket.end]]
        guard !isExcusable(code, socket) else { return }
        fail(.credit, "peer \(node.index) closed \(name(socket)) with \(code)")
    }

    /// A liar breaks rules. And a peer that is cut off in the middle of a long message makes others wait for it: FLOW.
    /// [limit.turn]
    func isExcusable(_ code: CloseCode?, _ socket: Socket) -> Bool {
        let (node, far) = (nodes[socket.wire.nodes[socket.end]], nodes[socket.remote])
        return !node.isHonest || !far.isHonest || code == .flow && isTroubled(node, far, since: now)
    }

    private func spend(_ cost: Int, _ socket: Socket) {
        socket.wire.record.spent[socket.end] += UInt64(cost)
        let (spent, credit) = (socket.wire.record.spent[socket.end], socket.wire.record.credit[socket.end])
        if spent > credit { fail(.credit, "\(name(socket)) spent \(spent) of \(credit)") }
    }

    /// The rule once more, from what the two peers are and not from what the machines think.
    private func mayCarryEntries(_ socket: Socket) -> Bool {
        guard socket.remote >= 0 else { return false }
        let one = nodes[socket.wire.nodes[socket.end]].profile
        let other = nodes[socket.remote].profile
        return socket.wire.key != nil || (one.preference == .none && other.preference == .none)
    }

    static func number(_ bytes: [UInt8], at place: Int) -> Int {
        guard bytes.count >= place + 8 else { return -1 }
        var number: UInt64 = 0
        for index in place..<(place + 8) { number = number << 8 | UInt64(bytes[index]) }
        return Int(truncatingIfNeeded: number)
    }
}
