import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink

/// UDP between nodes, and what they do with it.
final class DatagramNetwork: Part {
    let world: World
    /// UDP packets under way.
    var packets: [Int: Packet] = [:]
    var lastPacket = 0
    /// The faults are over: nothing is lost any more.
    var isCalm = false

    init(_ world: World) { self.world = world }

    func carryOut(_ order: DatagramOrder, _ id: ConnectionID, of node: Node) {
        guard let socket = node.sockets[id], let seat = socket.seat else {
            return fail(.dead, "peer \(node.index) orders datagrams of \(id.rawValue), which is no link")
        }
        // The link may have ended already, and the owner hears it next.
        guard let peer = node.engine.links.peer(on: id) else { return }
        switch order {
        case .open:
            seat.datagrams.hasPort = !dice.hits(oneIn: 16)
            node.engine.datagramPort(id, seat.datagrams.hasPort ? node.datagramPort : nil, at: moment(node))
        case .draw: node.engine.datagramAssociation(id, dice.next(), at: moment(node))
        case .begin(let channel): begin(channel, socket, seat, peer, of: node)
        case .drop:
            seat.datagrams.channel = nil
            seat.datagrams.handshake = .init()
        case .retransmit: if let last = seat.datagrams.handshake.last { cast(last, socket, seat) }
        case .send(let content): cast(content, socket, seat)
        case .up:
            watchUp(socket, seat)
            seat.datagrams.isUp = true
        case .down: divert(socket, seat, of: node)
        case .finish:
            pumpDatagrams(socket, seat, peer, of: node)
            seat.datagrams.isUp = false
        }
    }

    private func begin(
        _ channel: DatagramOrder.Channel, _ socket: Socket, _ seat: Seat, _ peer: LinkedPeer, of node: Node
    ) {
        seat.datagrams.channel = channel
        seat.datagrams.handshake = .init()
        seat.datagrams.heardAt = nil
        guard channel.keyContext != nil else { return }
        if channel.isClient { cast(seat.datagrams.handshake.say(.clientHello), socket, seat) }
        reportHandshake(seat, peer, of: node)
    }

    private func reportHandshake(_ seat: Seat, _ peer: LinkedPeer, of node: Node) {
        let handshake = seat.datagrams.handshake
        node.engine.datagrams.handshakeMoved(
            of: peer, flights: handshake.flights, isDone: handshake.isDone, at: moment(node))
    }

    /// What was not sealed takes the link.
    private func divert(_ socket: Socket, _ seat: Seat, of node: Node) {
        seat.datagrams.isUp = false
        let waiting = seat.datagrams.waiting
        seat.datagrams.waiting = 0
        guard waiting > 0 else { return }
        let messages = applications.batch(node, socket, messages: waiting, longest: 200)
        if !node.engine.links.divert(messages, on: socket.id) {
            socket.wire.record.sent[socket.end] -= waiting
        }
    }
}

// MARK: what applications send

extension DatagramNetwork {
    /// Sends a few numbered messages that may be lost, or by the link while that is the only way.
    func chatUnreliably(_ node: Node, _ socket: Socket) {
        guard let seat = socket.seat, let peer = node.engine.links.peer(on: socket.id) else { return }
        let messages = dice.roll(1...3)
        guard seat.datagrams.isUp else {
            return applications.chat(node, socket, messages: messages, longest: 200)
        }
        seat.datagrams.waiting += messages
        // A socket that is full makes them wait.
        if !dice.hits(oneIn: 4) { pumpDatagrams(socket, seat, peer, of: node) }
    }

    private func pumpDatagrams(_ socket: Socket, _ seat: Seat, _ peer: LinkedPeer, of node: Node) {
        while seat.datagrams.waiting > 0, failure == nil {
            var content = ByteBuffer()
            let number = socket.wire.record.cast[socket.end] + 1
            let message = applications.message(number, node, socket, filling: dice.roll(0...100))
            guard node.engine.datagrams.encode(message.span, to: peer, into: &content) else {
                if seat.datagrams.isUp { fail(.datagrams, "\(name(socket)) is up and takes no message") }
                return
            }
            seat.datagrams.waiting -= 1
            socket.wire.record.cast[socket.end] = number
            cast(content.takeAll(), socket, seat)
        }
    }
}

// MARK: the network

extension DatagramNetwork {
    private func cast(_ content: [UInt8], _ socket: Socket, _ seat: Seat) {
        guard let channel = seat.datagrams.channel else { return }
        cast(.content(content, key: channel.keyContext), socket, seat)
    }

    /// Puts a packet on its way, which may be lost, come twice, or be overtaken.
    private func cast(_ body: Packet.Body, _ socket: Socket, _ seat: Seat) {
        guard let channel = seat.datagrams.channel, socket.remote >= 0 else { return }
        let packet = Packet(
            header: channel.header, from: socket.wire.nodes[socket.end], to: socket.remote,
            port: channel.port, body: body)
        if !isCalm, dice.hits(oneIn: 12) { return }
        for _ in 0..<(dice.hits(oneIn: 12) ? 2 : 1) {
            lastPacket += 1
            packets[lastPacket] = packet
            let base = socket.wire.pipes[1 - socket.end].base
            let late = dice.hits(oneIn: 12) ? Int64(dice.roll(0...200)) * 1_000_000 : 0
            post(.datagram(lastPacket), after: network.weather.delay(base: base, &dice) + late)
        }
    }

    func arrive(_ number: Int, _ happening: Happening) {
        guard let packet = packets[number] else { return }
        let node = nodes[packet.to]
        if node.process.isUp, node.process.isPaused { return node.process.backlog.append(happening) }
        packets[number] = nil
        guard node.process.isUp, node.host.isUp, network.paths.isOpen(packet.from, packet.to),
            now >= node.host.deafUntil,
            packet.port == node.datagramPort, let peer = node.engine.datagrams.admit(packet.header)
        else { return }
        guard let socket = node.sockets[peer.id], let seat = socket.seat else {
            return fail(.datagrams, "peer \(node.index) admits a datagram of a link that is over")
        }
        if case .content(let content, let key) = packet.body {
            receive(content, key, packet.header, socket, seat, peer, of: node)
        } else {
            receive(packet.body, socket, seat, peer, of: node)
        }
        settle(node)
    }

    /// A flight. Numbers are admitted with which both ends have to come to the same key.
    private func receive(
        _ body: Packet.Body, _ socket: Socket, _ seat: Seat, _ peer: LinkedPeer, of node: Node
    ) {
        guard let channel = seat.datagrams.channel, let own = channel.keyContext else {
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
        if let flight = seat.datagrams.receive(body, key: own, isClient: channel.isClient) {
            cast(flight, socket, seat)
        }
        reportHandshake(seat, peer, of: node)
    }

    private func receive(
        _ content: [UInt8], _ key: [UInt8]?, _ header: DatagramHeader, _ socket: Socket, _ seat: Seat,
        _ peer: LinkedPeer, of node: Node
    ) {
        guard let channel = seat.datagrams.channel, channel.keyContext == key,
            key == nil || seat.datagrams.handshake.isDone
        else { return }
        seat.datagrams.heardAt = now
        socket.wire.record.reached[socket.end].insert(header.association)
        guard node.engine.datagrams.receive(content.span, from: peer, at: moment(node)).isMessage else {
            return
        }
        let message = Array(content.dropFirst(ContentHeader.byteCount))
        check(unreliable: message, socket, node)
        let cost = MessageCredit.cost(message.count)
        if node.application.isSlow {
            seat.datagrams.unread += cost
        } else {
            node.engine.links.consumedDatagrams(cost, on: socket.id)
        }
    }
}

// MARK: what is checked

extension DatagramNetwork {
    /// A path without a pong is up for nobody: a content has come each way under the numbers of now.
    private func watchUp(_ socket: Socket, _ seat: Seat) {
        say("\(name(socket)) has datagrams")
        guard let channel = seat.datagrams.channel, seat.datagrams.heardAt != nil,
            socket.wire.record.reached[1 - socket.end].contains(channel.header.association)
        else { return fail(.datagrams, "\(name(socket)) is up, and nothing has come through") }
    }

    private func check(unreliable message: [UInt8], _ socket: Socket, _ node: Node) {
        let number = Observer.number(message, at: 0)
        let sender = UInt64(bitPattern: Int64(Observer.number(message, at: 16)))
        guard message.count >= 32, Observer.number(message, at: 8) == socket.wire.number,
            sender == socket.wire.record.instances[1 - socket.end],
            (1...max(1, socket.wire.record.cast[1 - socket.end])).contains(number),
            Observer.number(message, at: 24) == message.count
        else { return fail(.datagrams, "\(name(socket)) brought a datagram that was not sent on it") }
        guard socket.wire.record.caught[socket.end].insert(number).inserted else {
            return fail(.datagrams, "\(name(socket)) brought datagram \(number) twice")
        }
        observer.counts.datagrams += 1
        observer.trace.note(8, node.index, number, at: now)
    }

    /// Looks now and then at network.paths that are up: something comes, or three pings were missed.
    func watchPath(_ socket: Socket, _ seat: Seat, _ node: Node) {
        guard seat.datagrams.isUp, let heardAt = seat.datagrams.heardAt,
            now - heardAt > DatagramNetwork.unheard
        else {
            return
        }
        fail(.datagrams, "\(name(socket)) is up and brought nothing for \((now - heardAt) / 1_000_000) ms")
    }

    /// A ping that is answered, three that are not, and a little.
    private static let unheard: Int64 = 22_000_000_000
}
