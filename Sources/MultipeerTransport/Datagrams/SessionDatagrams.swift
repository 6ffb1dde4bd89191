import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerSecurity

/// The unreliable messages of a session's links: the UDP sockets, and for each link a flow between its queue and a
/// socket. Lives on the loop.
final class SessionDatagrams {
    private let loop: EventLoop
    private let configuration: Session.Configuration
    private let sockets: Sockets
    private let queues: MessageSender
    private let events: EventDelivery
    private let readyList: ReadyList
    private var ports = DatagramPorts()
    /// Those with something to send, or with room in their socket again.
    private var dueFlows: [DatagramFlow] = []
    /// Whether there are any, which is looked up more often.
    private(set) var hasDueFlows = false
    /// Links that have no port yet, in the order in which they were made.
    private var newLinks: [ConnectionID] = []
    /// When the first of them was made.
    private var linkedAt = Moment.distantFuture

    /// What the application does first with a new link, it does before the port is opened.
    private static let delay = Duration.milliseconds(1)
    /// The maximum time for which other connections that are being made delay the ports of new links.
    private static let longestDelay = Duration.seconds(1)

    init(
        _ loop: EventLoop, _ configuration: Session.Configuration, _ sockets: Sockets,
        _ queues: MessageSender,
        telling events: EventDelivery, _ readyList: ReadyList
    ) {
        self.loop = loop
        self.configuration = configuration
        self.sockets = sockets
        self.queues = queues
        self.events = events
        self.readyList = readyList
    }
}

// MARK: - What the engine wants

extension SessionDatagrams {
    /// Opens a port for a link a moment later, once no other connection is being made. The handshake over UDP costs about as
    /// much as that of a link: it delays neither the application, which is only now notified and may share the core with the
    /// loop, nor the links to the other members of a mesh. Until then messages take the link.
    func openSoon(on id: ConnectionID) {
        if newLinks.isEmpty { linkedAt = loop.now }
        newLinks.append(id)
    }

    /// When the ports of new links are opened; nil when there are none.
    var opening: Moment? {
        if newLinks.isEmpty { return nil }
        return linkedAt + (sockets.isConnecting ? Self.longestDelay : Self.delay)
    }

    /// Opens the ports that are due, whose sockets wake `client`.
    func openDue(for client: any LoopClient, _ engine: inout SessionEngine) {
        guard let opening, opening <= loop.now else { return }
        let due = newLinks
        newLinks = []
        for id in due { open(on: id, for: client, &engine) }
    }

    private func open(on id: ConnectionID, for client: any LoopClient, _ engine: inout SessionEngine) {
        do throws(SocketFault) {
            guard let connection = sockets.connections[id], let link = connection.link,
                let peer = engine.links.peer(on: id),
                let local = connection.socket.localAddress?.host
            else { return engine.datagramPort(id, nil, at: loop.now) }
            let everywhere = configuration.listenAddresses.isEmpty
            let port = try ports.open(
                at: everywhere ? nil : local, number: sockets.acceptor?.datagramPort ?? 0, on: loop,
                for: client)
            link.flow = DatagramFlow(
                of: peer, port: port, host: connection.remote.host, keyLog: configuration.keyLog)
            engine.datagramPort(
                id, configuration.overrides.datagramPort?(port.number) ?? port.number, at: loop.now)
        } catch {
            // Without a socket unreliable messages take the link.
            engine.datagramPort(id, nil, at: loop.now)
        }
    }

    func carryOut(_ order: DatagramAction, on id: ConnectionID, _ engine: inout SessionEngine) {
        guard let connection = sockets.connections[id], let link = connection.link, let flow = link.flow
        else { return }
        let now = loop.now
        switch order {
        case .open, .draw: return
        case .begin(let channel): begin(channel, flow, connection, &engine)
        case .drop: flow.drop()
        case .retransmit: flow.retransmit(&engine, at: now)
        case .send(let content): flow.send(content, &engine, at: now)
        case .up:
            flow.port.joinPackets()
            flow.sendQueue = queues.datagrams.open(link.peer.uid) { [readyList] in
                readyList.add(.datagrams(id))
            }
        case .down: divert(flow, connection, link, &engine)
        case .finish: finish(flow, &engine)
        }
        noteDue(flow)
    }

    private func begin(
        _ channel: DatagramAction.Channel, _ flow: DatagramFlow, _ connection: SocketConnection,
        _ engine: inout SessionEngine
    ) {
        guard let context = channel.keyContext else { return flow.begin(channel, nil, &engine, at: loop.now) }
        do throws(SecurityFault) {
            let key = try connection.channel?.exportKey(  // [dgram.key]
                label: "EXPORTER-mpc1-datagram", context: context, count: DatagramChannel.keyByteCount)
            guard var key else { throw .internal("the link has no channel") }
            flow.begin(channel, SecureBytes(erasing: &key), &engine, at: loop.now)  // [secret.erase]
        } catch {
            engine.datagrams.failed(of: flow.peer, at: loop.now)
        }
    }

    /// Messages that were accepted for UDP are sent on the link.
    private func divert(
        _ flow: DatagramFlow, _ connection: SocketConnection, _ link: SessionLink,
        _ engine: inout SessionEngine
    ) {
        guard let sendQueue = flow.sendQueue.take() else { return }
        let messages = flow.takeQueue() + queues.datagrams.close(sendQueue, of: link.peer.uid)
        guard !messages.isEmpty, engine.links.divert(messages, on: connection.id) else { return }
        link.sendQueue.adopt(messages: messages.count, bytes: messages.reduce(0) { $0 + $1.count })
    }

    /// Sends what was accepted until now, and accepts no more.
    private func finish(_ flow: DatagramFlow, _ engine: inout SessionEngine) {
        guard let sendQueue = flow.sendQueue else { return }
        flow.enqueue(sendQueue.take() + queues.datagrams.close(sendQueue, of: flow.peer.peer.uid))
        flow.pump(&engine, at: loop.now)
        flow.sendQueue = nil
    }

    /// The link has ended: what was not sent over UDP is lost, as it may be.
    func close(_ link: SessionLink) {
        guard let flow = link.flow.take() else { return }
        if let sendQueue = flow.sendQueue.take() { _ = queues.datagrams.close(sendQueue, of: link.peer.uid) }
        ports.release(flow.port, on: loop)
    }
}

// MARK: - Sending

extension SessionDatagrams {
    /// Takes what senders put into the send queue.
    func takeMessages(of id: ConnectionID) {
        guard let flow = sockets.connections[id]?.link?.flow, let sendQueue = flow.sendQueue else { return }
        flow.enqueue(sendQueue.take())
        noteDue(flow)
    }

    private func noteDue(_ flow: DatagramFlow) {
        guard !flow.isDue else { return }
        flow.isDue = true
        dueFlows.append(flow)
        hasDueFlows = true
    }

    /// Seals and sends what waits, once for everything that came together. Returns whether there was anything to look at.
    func pump(_ engine: inout SessionEngine) -> Bool {
        if !hasDueFlows { return false }
        hasDueFlows = false
        let due = dueFlows
        dueFlows.removeAll(keepingCapacity: true)
        for flow in due {
            flow.isDue = false
            guard sockets.connections[flow.peer.id]?.link?.flow === flow else { continue }
            flow.pump(&engine, at: loop.now)
            watch(flow.port)
        }
        return true
    }

    /// Requests a notification when a socket that was full has room again.
    private func watch(_ port: DatagramPort) {
        let isBlocked = sockets.connections.values.contains { connection in
            connection.link?.flow.map { $0.port === port && $0.isBlocked } ?? false
        }
        let interest: Readiness = isBlocked ? [.readable, .writable] : .readable
        guard port.interest != interest else { return }
        port.interest = interest
        try? loop.setInterest(port.socket.descriptor, interest)
    }

    private func flows(of port: DatagramPort) -> [DatagramFlow] {
        sockets.ordered.compactMap { $0.link?.flow }.filter { $0.port === port }
    }
}

// MARK: - Receiving

extension SessionDatagrams {
    /// Handles a UDP socket that is ready: at most a fixed number of packets a turn.
    func ready(_ token: Int, _ readiness: Readiness, _ engine: inout SessionEngine) {
        guard let port = ports[token] else { return }
        if readiness.contains(.writable) { for flow in flows(of: port) { noteDue(flow) } }
        if readiness != .writable { receive(from: port, &engine) }
        for flow in dueFlows {
            events.add(unreliable: flow.takeIncomingMessages(), on: flow.peer.id, of: flow.peer.peer)
        }
    }

    private func receive(from port: DatagramPort, _ engine: inout SessionEngine) {
        let now = loop.now
        var budget = DatagramPorts.packets
        while budget > 0 {
            // Most follow one of the same link, whose flow is closed when these have been handled, and not before.
            var last: (header: DatagramHeader, flow: DatagramFlow)?
            let received = port.socket.receive(with: sockets.buffers.datagrams) { packet, source in
                guard let header = DatagramHeader(packet),
                    let flow = flow(for: header, after: last, engine.datagrams)
                else {
                    ports.strays += 1
                    return
                }
                last = (header, flow)
                flow.receive(
                    packet.extracting(DatagramHeader.byteCount..<packet.count), from: source, &engine, at: now
                )
                noteDue(flow)
            }
            ports.strays += received.dropped
            if received.isDrained { return }
            budget -= max(received.packets, 1)
        }
    }

    /// Returns the flow of a packet that the engine admits.
    private func flow(
        for header: DatagramHeader, after last: (header: DatagramHeader, flow: DatagramFlow)?,
        _ paths: borrowing DatagramPaths
    ) -> DatagramFlow? {
        if let last, last.header == header {
            return paths.admits(header, of: last.flow.peer) ? last.flow : nil
        }
        return paths.admit(header).flatMap { sockets.connections[$0.id]?.link?.flow }
    }

    /// Packets that belonged to no link.
    var strays: Int { ports.strays }
}
