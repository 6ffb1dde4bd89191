import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink

/// UDP between nodes, and what they do with it.
final class DatagramNetwork: Subsystem {
    let world: World
    /// UDP packets in flight.
    var packets: [Int: Packet] = [:]
    var lastPacket = 0
    /// Whether the faults are over: from then on no packet is lost.
    var isCalm = false

    init(_ world: World) { self.world = world }

    func carryOut(_ order: DatagramAction, _ id: ConnectionID, of node: Node) {
        guard let socket = node.sockets[id], let linkState = socket.linkState else {
            return fail(.dead, "peer \(node.index) orders datagrams of \(id.rawValue), which is not a link")
        }
        // The link may have ended already, and the owner is notified next.
        guard let peer = node.engine.links.peer(on: id) else { return }
        switch order {
        case .open:
            linkState.datagrams.hasPort = !random.chance(oneIn: 16)
            node.engine.datagramPort(
                id, linkState.datagrams.hasPort ? node.datagramPort : nil, at: moment(node))
        case .draw:
            watchRestart(socket, linkState, node)
            node.engine.datagramAssociation(id, random.next(), at: moment(node))
        case .begin(let channel): begin(channel, socket, linkState, peer, of: node)
        case .drop:
            linkState.datagrams.channel = nil
            linkState.datagrams.handshake = .init()
            linkState.datagrams.stoppedAt = now
        case .retransmit: if let last = linkState.datagrams.handshake.last { cast(last, socket, linkState) }
        case .send(let content): cast(content, socket, linkState)
        case .up:
            watchUp(socket, linkState)
            linkState.datagrams.isUp = true
        case .down: divert(socket, linkState, of: node)
        case .finish:
            pumpDatagrams(socket, linkState, peer, of: node)
            linkState.datagrams.isUp = false
        }
    }

    private func begin(
        _ channel: DatagramAction.Channel, _ socket: SimulatedSocket, _ linkState: LinkState,
        _ peer: LinkedPeer, of node: Node
    ) {
        linkState.datagrams.channel = channel
        linkState.datagrams.handshake = .init()
        linkState.datagrams.heardAt = nil
        linkState.datagrams.waitingSince = nil
        linkState.datagrams.vanished = .init()
        linkState.datagrams.stoppedAt = nil
        guard channel.keyContext != nil else { return }
        if channel.isClient { cast(linkState.datagrams.handshake.say(.clientHello), socket, linkState) }
        reportHandshake(linkState, peer, of: node)
    }

    private func reportHandshake(_ linkState: LinkState, _ peer: LinkedPeer, of node: Node) {
        let handshake = linkState.datagrams.handshake
        node.engine.datagrams.handshakeMoved(
            of: peer, flights: handshake.flights, isDone: handshake.isDone, at: moment(node))
    }

    /// Sends what was not sealed over the link.
    private func divert(_ socket: SimulatedSocket, _ linkState: LinkState, of node: Node) {
        linkState.datagrams.isUp = false
        linkState.datagrams.downAt = now
        let waiting = linkState.datagrams.waiting
        linkState.datagrams.waiting = 0
        guard waiting > 0 else { return }
        let messages = applications.batch(node, socket, messages: waiting, longest: 200)
        if !node.engine.links.divert(messages, on: socket.id) {
            socket.connection.record.sent[socket.end] -= waiting
        }
    }
}

// MARK: what applications send

extension DatagramNetwork {
    /// Sends a few numbered messages that may be lost, or over the link while that is the only way.
    func chatUnreliably(_ node: Node, _ socket: SimulatedSocket) {
        guard let linkState = socket.linkState, let peer = node.engine.links.peer(on: socket.id) else {
            return
        }
        let messages = random.uniform(1...3)
        guard linkState.datagrams.isUp else {
            return applications.chat(node, socket, messages: messages, longest: 200)
        }
        linkState.datagrams.waiting += messages
        // They wait while the socket is full.
        if !random.chance(oneIn: 4) { pumpDatagrams(socket, linkState, peer, of: node) }
    }

    private func pumpDatagrams(
        _ socket: SimulatedSocket, _ linkState: LinkState, _ peer: LinkedPeer, of node: Node
    ) {
        while linkState.datagrams.waiting > 0, failure == nil {
            var content = ByteBuffer()
            let number = socket.connection.record.cast[socket.end] + 1
            let message = applications.message(number, node, socket, filling: random.uniform(0...100))
            guard node.engine.datagrams.encode(message.span, to: peer, into: &content, at: moment(node))
            else {
                if linkState.datagrams.isUp { fail(.datagrams, "\(name(socket)) is up and takes no message") }
                return
            }
            linkState.datagrams.waiting -= 1
            socket.connection.record.cast[socket.end] = number
            cast(content.takeAll(), socket, linkState)
        }
    }
}

// MARK: the network

extension DatagramNetwork {
    private func cast(_ content: [UInt8], _ socket: SimulatedSocket, _ linkState: LinkState) {
        guard let channel = linkState.datagrams.channel else { return }
        if content.first != ContentHeader.Kind.pong.rawValue { linkState.datagrams.sends(at: now) }
        cast(.content(content, key: channel.keyContext), socket, linkState)
    }

    /// Sends a packet, which may be lost, duplicated or reordered.
    private func cast(_ body: Packet.Body, _ socket: SimulatedSocket, _ linkState: LinkState) {
        guard let channel = linkState.datagrams.channel, socket.remote >= 0 else { return }
        let packet = Packet(
            header: channel.header, from: socket.connection.nodes[socket.end], to: socket.remote,
            port: channel.port, body: body)
        if !isCalm, random.chance(oneIn: 12) { return }
        for node in [nodes[packet.from], nodes[packet.to]]
        where node.host.silentUntil > now || isLost(node.host.loss) {
            return
        }
        for _ in 0..<(random.chance(oneIn: 12) ? 2 : 1) {
            lastPacket += 1
            packets[lastPacket] = packet
            let base = socket.connection.inFlight[1 - socket.end].base
            let late = random.chance(oneIn: 12) ? Int64(random.uniform(0...200)) * 1_000_000 : 0
            post(.datagram(lastPacket), after: network.conditions.delay(base: base, &random) + late)
        }
    }

    private func isLost(_ loss: NodeHost.Loss?) -> Bool {
        guard let loss, loss.until > now else { return false }
        return random.uniform(1...100) <= loss.percent
    }

    func arrive(_ number: Int, _ event: SimulationEvent) {
        guard let packet = packets[number] else { return }
        let node = nodes[packet.to]
        if node.process.isUp, node.process.isPaused { return node.process.backlog.append(event) }
        packets[number] = nil
        guard node.process.isUp, node.host.isUp, network.reachability.isOpen(packet.from, packet.to),
            now >= node.host.deafUntil,
            packet.port == node.datagramPort, let peer = node.engine.datagrams.admit(packet.header)
        else { return }
        guard let socket = node.sockets[peer.id], let linkState = socket.linkState else {
            return fail(.datagrams, "peer \(node.index) admits a datagram of a link that has ended")
        }
        if case .content(let content, let key) = packet.body {
            receive(content, key, packet.header, socket, linkState, peer, of: node)
        } else {
            receive(packet.body, socket, linkState, peer, of: node)
        }
        settle(node)
    }

    /// Handles a flight. The admitted numbers are those with which both ends have to derive the same key.
    private func receive(
        _ body: Packet.Body, _ socket: SimulatedSocket, _ linkState: LinkState, _ peer: LinkedPeer,
        of node: Node
    ) {
        guard let channel = linkState.datagrams.channel, let own = channel.keyContext else {
            return fail(.datagrams, "\(name(socket)) admits a flight and has no channel")
        }
        switch body {
        case .finished(let key), .accepted(let key):
            guard key == own else {
                fail(.datagrams, "the ends of \(name(socket)) have different keys")
                return node.engine.datagrams.failed(of: peer, at: moment(node))
            }
        default: break
        }
        if let flight = linkState.datagrams.receive(body, key: own, isClient: channel.isClient) {
            cast(flight, socket, linkState)
        }
        reportHandshake(linkState, peer, of: node)
    }

    private func receive(
        _ content: [UInt8], _ key: [UInt8]?, _ header: DatagramHeader, _ socket: SimulatedSocket,
        _ linkState: LinkState,
        _ peer: LinkedPeer, of node: Node
    ) {
        guard let channel = linkState.datagrams.channel, channel.keyContext == key,
            key == nil || linkState.datagrams.handshake.isDone
        else { return }
        let dropped = peer.datagramCounts.dropped
        defer {
            if peer.datagramCounts.dropped == dropped { arrived(content, socket, linkState, header) }
        }
        guard node.engine.datagrams.receive(content.span, from: peer, at: moment(node)).isMessage else {
            return
        }
        let message = Array(content.dropFirst(ContentHeader.byteCount))
        check(unreliable: message, socket, node)
        let cost = MessageCredit.cost(message.count)
        if node.application.isSlow {
            linkState.datagrams.unread += cost
        } else {
            node.engine.links.consumedDatagrams(cost, on: socket.id)
        }
    }
}

extension DatagramNetwork {
    /// Notes a content that was neither repeated nor too late.
    private func arrived(
        _ content: [UInt8], _ socket: SimulatedSocket, _ linkState: LinkState, _ header: DatagramHeader
    ) {
        linkState.datagrams.heardAt = now
        linkState.datagrams.waitingSince = nil
        socket.connection.record.reached[socket.end].insert(header.association)
        guard content.first != ContentHeader.Kind.pong.rawValue else { return }
        socket.connection.sockets[1 - socket.end]?.linkState?.datagrams.vanished = .init()
    }
}

// MARK: what is checked

extension DatagramNetwork {
    /// Checks a path that comes up: it needs a pong, and a content that came each way under the current numbers.
    private func watchUp(_ socket: SimulatedSocket, _ linkState: LinkState) {
        say("\(name(socket)) has datagrams")
        guard let channel = linkState.datagrams.channel, linkState.datagrams.heardAt != nil,
            socket.connection.record.reached[1 - socket.end].contains(channel.header.association)
        else { return fail(.datagrams, "\(name(socket)) is up, but nothing has arrived") }
    }

    private func check(unreliable message: [UInt8], _ socket: SimulatedSocket, _ node: Node) {
        let number = Observer.number(message, at: 0)
        let sender = UInt64(bitPattern: Int64(Observer.number(message, at: 16)))
        guard message.count >= 32, Observer.number(message, at: 8) == socket.connection.number,
            sender == socket.connection.record.instances[1 - socket.end],
            (1...max(1, socket.connection.record.cast[1 - socket.end])).contains(number),
            Observer.number(message, at: 24) == message.count
        else { return fail(.datagrams, "\(name(socket)) brought a datagram that was not sent on it") }
        guard socket.connection.record.caught[socket.end].insert(number).inserted else {
            return fail(.datagrams, "\(name(socket)) delivered datagram \(number) twice")
        }
        observer.counts.datagrams += 1
        observer.trace.note(8, node.index, number, at: now)
    }

    /// Checks at intervals a path that is up: what it sends arrives, and the other end takes it.
    func watchPath(_ socket: SimulatedSocket, _ linkState: LinkState) {
        guard linkState.datagrams.isUp else { return }
        let vanished = linkState.datagrams.vanished
        if vanished.count > 0, let since = linkState.datagrams.waitingSince {
            let silence = now - max(since, vanished.first)
            if silence > vanishing {
                return fail(
                    .datagrams, "\(name(socket)) is up, and sends into nothing for \(silence / 1_000_000) ms")
            }
        }
        // Where only one direction is silent, the other end notices that its pings have no answer. Where many are lost, chance
        // does the same.
        let stretch = vanished.last - vanished.first
        if vanished.count > 4, stretch > 2 * vanishing, socket.remote >= 0,
            socket.connection.nodes.allSatisfy({
                nodes[$0].host.loss.map { $0.until < vanished.first } ?? true
            })
        {
            return fail(
                .datagrams,
                "\(name(socket)) is up, and \(vanished.count) contents of \(stretch / 1_000_000) ms did not arrive"
            )
        }
        watchOtherEnd(socket, linkState)
    }

    /// How long messages may vanish on a path that is up; more where the round trip may take long.
    private var vanishing: Int64 { network.conditions == .calm ? 2_000_000_000 : 8_000_000_000 }

    /// Checks that the end is notified when the other stops, over a link that works and is fast.
    private func watchOtherEnd(_ socket: SimulatedSocket, _ linkState: LinkState) {
        guard network.conditions == .calm, socket.remote >= 0, !socket.connection.isDead,
            let far = socket.connection.sockets[1 - socket.end]?.linkState,
            let stoppedAt = far.datagrams.stoppedAt, now - max(stoppedAt, linkState.since) > Self.notice
        else { return }
        let ends = socket.connection.nodes.map { nodes[$0] }
        guard ends.allSatisfy({ $0.isRunning && $0.profile.rate == nil && $0.isHonest }),
            ends.allSatisfy({ now - $0.host.troubledAt > Observer.calming }),
            network.reachability.isWhole(ends[0].index, ends[1].index),
            now - observer.disturbance > Observer.calming
        else { return }
        fail(
            .datagrams,
            "\(name(socket)) is up, but its other end stopped \((now - stoppedAt) / 1_000_000) ms ago")
    }

    /// From the moment when an end stops until the other knows it.
    private static let notice: Int64 = 1_000_000_000

    /// Checks an end that starts again of its own accord: only silence is a reason.
    private func watchRestart(_ socket: SimulatedSocket, _ linkState: LinkState, _ node: Node) {
        guard linkState.datagrams.downAt == now, let heardAt = linkState.datagrams.heardAt,
            now - heardAt < Self.silence, now - node.host.disturbances[1] > Self.silence
        else { return }
        fail(
            .datagrams,
            "\(name(socket)) went down, although something came \((now - heardAt) / 1_000_000) ms ago")
    }

    /// Silence of less than this is no reason to go down.
    private static let silence: Int64 = 1_700_000_000
}
