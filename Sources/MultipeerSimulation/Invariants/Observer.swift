import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerMesh
import MultipeerSecurity

/// Watches everything that happens, and reports the invariant that it breaks.
final class Observer: Subsystem {
    let world: World
    var trace = Trace()
    var failure: InvariantViolation?
    var counts = RunStatistics()
    /// When a fault last began or ended.
    var disturbance: Int64 = 0
    /// When the Byzantine peer began to lie.
    var liesSince: Int64?
    /// Links that ended because a long message made others wait, for a reason that the world knows. They are established again.
    private(set) var turnEnds = 0
    /// Bit n: something else happened to node n while a member lied, so it may lose links.
    var excused: UInt32 = 0

    init(_ world: World) { self.world = world }

    func found(_ invariant: Invariant, _ detail: @autoclosure () -> String) {
        guard failure == nil else { return }
        let failure = InvariantViolation(invariant: invariant, moment: now - World.start, detail: detail())
        self.failure = failure
        trace.say(now - World.start, "FAILED \(failure)")
        for node in nodes { trace.say(now - World.start, picture(node)) }
    }

    /// Returns a node's view of the mesh: its links, its component, its entries.
    private func picture(_ node: Node) -> String {
        func name(_ endpoint: Endpoint) -> String {
            guard let known = nodes.first(where: { $0.uid == endpoint.uid }) else { return "?" }
            return "\(known.index)" + (known.endpoint == endpoint ? "" : "'")
        }
        guard node.process.isUp else { return "\(node.index) is down" }
        let links = node.links.map { "\($0.remote)\($0.linkState?.isMesh == true ? "" : "d")" }
        let entries = node.mesh.entries.map { entry in
            "\(name(entry.origin))#\(entry.sequence)[\(entry.members.map(name).joined(separator: " "))]"
        }
        return "\(node.index) links [\(links.joined(separator: " "))] component "
            + "[\(node.mesh.component.map(name).joined(separator: " "))] entries \(entries.joined(separator: " "))"
    }

    /// How long a lie needs to spread, and a connection to become a link.
    static let settling: Int64 = 500_000_000

    func isExcused(_ node: Int) -> Bool { excused >> UInt32(node) & 1 == 1 }
    func excuse(_ node: Int) { excused |= 1 << UInt32(node) }

    /// Checks a peer state that an application received.
    func heard(_ peer: PeerID, _ state: PeerState, of node: Node) {
        let new: PeerStateMachine.State =
            switch state {
            case .notConnected: .notConnected
            case .connecting: .connecting
            case .connected: .connected
            }
        let old = node.application.heard[peer.uid] ?? .notConnected
        let isAllowed =
            switch (old, new) {
            case (.notConnected, .connecting), (.connecting, .connected), (.connecting, .notConnected),
                (.connected, .notConnected):
                true
            // A link that replaces another one is reported as notConnected, connected.
            case (.notConnected, .connected): true
            default: false
            }
        trace.note(5, node.index, Int(truncatingIfNeeded: peer.uid.low), at: now)
        say("\(node.index) reports that \(peer.displayName) is \(state)")
        if !isAllowed {
            fail(.states, "peer \(node.index) reports \(peer.displayName): \(new) after \(old)")
        }
        node.application.heard[peer.uid] = new == .notConnected ? nil : new
        // A link that was lost at once is established again without a call of the application.
        if new == .notConnected, !node.mesh.awaits(peer.uid) { node.application.wantedPeers.remove(peer.uid) }
        node.application.connecting[peer.uid] = new == .connecting ? moment(node) : nil
        if node.application.isSlow {
            node.application.unreadInput.tell(of: peer.uid)
        } else {
            node.engine.eventsTaken(1, of: peer.uid)
        }
        if applications.keepsJournal { node.application.journal.append(.peer(peer, state)) }
    }

    func settled(_ uid: UID, _ reason: DisconnectReason?, of node: Node) {
        // The mesh's own attempts are settled too; the application waits for none of those.
        if reason != nil, !node.isWanted(uid) { node.application.wantedPeers.remove(uid) }
    }

    /// Takes messages of this cost for the application, unless it is slow.
    func consumed(_ cost: Int, on socket: SimulatedSocket, of node: Node) {
        if node.application.isSlow {
            node.application.unreadInput.add(cost, on: socket.id, of: nodes[socket.remote].uid)
        } else {
            node.engine.consumed(cost, on: socket.id)
        }
    }

    func take(_ messages: IncomingBatch, _ socket: SimulatedSocket, _ linkState: LinkState, of node: Node) {
        for message in messages {
            counts.messages += 1
            check(message.bytes, socket, linkState, node)
            consumed(message.cost, on: socket, of: node)
        }
        watchUntaken(socket, node)
    }

    private func check(_ message: [UInt8], _ socket: SimulatedSocket, _ linkState: LinkState, _ node: Node) {
        if applications.keepsJournal {
            return node.application.journal.append(.message(message, from: linkState.peer))
        }
        let record = socket.connection.record
        let number = Observer.number(message, at: 0)
        let connection = Observer.number(message, at: 8)
        let sender = Observer.number(message, at: 16)
        guard message.count >= 32, connection == socket.connection.number,
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
        guard Observer.number(message, at: 24) == message.count,
            message.count == 32 || message.last == UInt8(truncatingIfNeeded: number)
        else {
            return fail(.messages, "\(name(socket)) brought message \(number) not as it was")
        }
        socket.connection.record.received[socket.end] += 1
        trace.note(6, node.index, Int(number), at: now)
    }

    func watchEnd(_ socket: SimulatedSocket, _ linkState: LinkState, _ reason: DisconnectReason, _ node: Node)
    {
        if reason.code == .timedOut, reason.closeCode == nil { watchDeath(socket, linkState, node) }
        // A FULL before the first entry refuses the connection, and its sender stays.
        if reason.code == .goodbye || reason.code == .full && linkState.hasTold && reason.closeCode != nil {
            node.departed[linkState.data.endpoint] = moment(node)
        }
        watchCause(socket, linkState, reason, node)
        let record = socket.connection.record
        if reason.code == .goodbye, !applications.keepsJournal,
            record.received[socket.end] != record.sent[1 - socket.end]
        {
            fail(.messages, "\(name(socket)) ended with GOODBYE, but not all messages had arrived")
        }
        // Where there really are too many peers, some have to go, whether or not a peer lies.
        let members = reason.code == .full ? mesh(around: [node.index, socket.remote]) : []
        if members.count > cap { for member in members { excuse(member) } }
        guard let lies = liesSince, now > lies + Observer.settling, node.isHonest,
            nodes[socket.remote].isHonest,
            linkState.since < lies, record.isWhole, !isExcused(node.index), !isExcused(socket.remote)
        else { return }
        fail(.honest, "\(name(socket)) ended while a third member lied: \(reason)")
    }

    /// Returns the nodes that mesh links join with these, whatever entries say.
    private func mesh(around some: Set<Int>) -> Set<Int> {
        var (found, frontier) = (some, Array(some))
        while let index = frontier.popLast() {
            for socket in nodes[index].links where socket.linkState?.isMesh == true {
                if found.insert(socket.remote).inserted { frontier.append(socket.remote) }
            }
        }
        return found
    }

    /// Reads the headers of the frames that a link writes. The message credit is counted a second time, by other code.
    func watchFrames(_ frames: [UInt8], _ socket: SimulatedSocket) {
        for place in FrameRanges(in: frames) {
            let header = place.header
            switch header.kind {
            case .message, .messagePart: spend(header.length + 64, socket)
            case .open: spend(header.length + 1_024, socket)
            case .credit where header.channel == 0 && place.isWhole:
                // The credit may be used only once it has arrived, so this errs in the peer's favour by one transit time.
                let limit = Observer.number(frames, at: place.payload.lowerBound)
                socket.connection.record.credit[1 - socket.end] = max(
                    socket.connection.record.credit[1 - socket.end], UInt64(limit))
            case .members:
                counts.entries += 1
                socket.connection.sockets[1 - socket.end]?.linkState?.hasTold = true
                if !mayCarryEntries(socket) { fail(.plain, "an entry travels on \(name(socket))") }
            case .close where place.isWhole:
                blame(frames.span.extracting(place.payload), header, socket)
            default: break
            }
        }
    }

    /// Checks a close code: honest peers give each other no cause for such codes.
    private func blame(_ payload: Span<UInt8>, _ header: FrameHeader, _ socket: SimulatedSocket) {
        guard case .close(let code, reason: _)? = try? Frame(header, payload), socket.remote >= 0,
            [.protocolError, .badMAC, .tooLarge, .flow, .flood, .version, .internal, .digest].contains(code)
        else { return }
        let node = nodes[socket.connection.nodes[socket.end]]
        guard !isExcusable(code, socket) else {
            if code == .flow { turnEnds += 1 }
            return
        }
        fail(.credit, "peer \(node.index) closed \(name(socket)) with \(code)")
    }

    /// Returns whether the code may end a link: a Byzantine peer breaks rules, and a peer that is cut off in the middle of a
    /// long message makes others wait for it: FLOW. [limit.reassembly]
    func isExcusable(_ code: CloseCode?, _ socket: SimulatedSocket) -> Bool {
        guard socket.remote >= 0 else { return true }
        let (node, far) = (nodes[socket.connection.nodes[socket.end]], nodes[socket.remote])
        return !node.isHonest || !far.isHonest || socket.connection.isForged
            || code == .flow && isTroubled(node, far, since: now)
    }

    private func spend(_ cost: Int, _ socket: SimulatedSocket) {
        socket.connection.record.spent[socket.end] += UInt64(cost)
        let (spent, credit) = (
            socket.connection.record.spent[socket.end], socket.connection.record.credit[socket.end]
        )
        if spent > credit { fail(.credit, "\(name(socket)) spent \(spent) of \(credit)") }
    }

    /// Returns the result of the rule a second time, from what the two peers are and not from what the machines assume.
    private func mayCarryEntries(_ socket: SimulatedSocket) -> Bool {
        guard socket.remote >= 0 else { return false }
        let one = nodes[socket.connection.nodes[socket.end]].profile
        let other = nodes[socket.remote].profile
        return socket.connection.key != nil || (one.preference == .none && other.preference == .none)
    }

    static func number(_ bytes: [UInt8], at place: Int) -> Int {
        guard bytes.count >= place + 8 else { return -1 }
        var number: UInt64 = 0
        for index in place..<(place + 8) { number = number << 8 | UInt64(bytes[index]) }
        return Int(truncatingIfNeeded: number)
    }
}
