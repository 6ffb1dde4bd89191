import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerSecurity

/// The unreliable messages of a session's links: the UDP sockets, and for each link a lane between its queue and a
/// socket. Lives on the loop.
final class SessionDatagrams {
    private let loop: EventLoop
    private let configuration: SessionConfiguration
    private let sockets: Sockets
    private let queues: SendQueues
    private let events: EventDelivery
    private let errands: Errands
    private var ports = DatagramPorts()
    /// Those with something to send, or with room in their socket again.
    private var dueLanes: [DatagramLane] = []

    init(
        _ loop: EventLoop, _ configuration: SessionConfiguration, _ sockets: Sockets, _ queues: SendQueues,
        telling events: EventDelivery, _ errands: Errands
    ) {
        self.loop = loop
        self.configuration = configuration
        self.sockets = sockets
        self.queues = queues
        self.events = events
        self.errands = errands
    }
}

// MARK: - What the engine wants

extension SessionDatagrams {
    /// Opens a port for a link, whose socket wakes `client`.
    func open(on id: ConnectionID, for client: any LoopClient, _ engine: inout SessionEngine) {
        do throws(SocketFault) {
            guard let wire = sockets.wires[id], let seat = wire.seat, let peer = engine.links.peer(on: id),
                let local = wire.socket.localAddress?.host
            else { return engine.datagramPort(id, nil, at: loop.now) }
            let everywhere = configuration.listening.isEmpty
            let port = try ports.open(at: everywhere ? nil : local, on: loop, for: client)
            seat.lane = DatagramLane(
                of: peer, port: port, host: wire.remote.host, keyLog: configuration.keyLog)
            engine.datagramPort(
                id, configuration.overrides.datagramPort?(port.number) ?? port.number, at: loop.now)
        } catch {
            // Without a socket unreliable messages take the link.
            engine.datagramPort(id, nil, at: loop.now)
        }
    }

    func carryOut(_ order: DatagramOrder, on id: ConnectionID, _ engine: inout SessionEngine) {
        guard let wire = sockets.wires[id], let seat = wire.seat, let lane = seat.lane else { return }
        let now = loop.now
        switch order {
        case .open, .draw: return
        case .begin(let channel): begin(channel, lane, wire, &engine)
        case .drop: lane.drop()
        case .retransmit: lane.retransmit(&engine, at: now)
        case .send(let content): lane.send(content, &engine, at: now)
        case .up:
            lane.outlet = queues.datagrams.open(seat.peer.uid) { [errands] in errands.add(.datagrams(id)) }
        case .down: divert(lane, wire, seat, &engine)
        case .finish: finish(lane, &engine)
        }
        noteDue(lane)
    }

    private func begin(
        _ channel: DatagramOrder.Channel, _ lane: DatagramLane, _ wire: Wire, _ engine: inout SessionEngine
    ) {
        guard let context = channel.keyContext else { return lane.begin(channel, nil, &engine, at: loop.now) }
        do throws(SecurityFault) {
            let key = try wire.channel?.exportKey(  // [dgram.key]
                label: "EXPORTER-mpc1-datagram", context: context, count: DatagramChannel.keyByteCount)
            guard var key else { throw .internal("the link has no channel") }
            lane.begin(channel, SecureBytes(erasing: &key), &engine, at: loop.now)  // [secret.erase]
        } catch {
            engine.datagrams.failed(of: lane.peer, at: loop.now)
        }
    }

    /// What was accepted for UDP takes the link.
    private func divert(_ lane: DatagramLane, _ wire: Wire, _ seat: Seat, _ engine: inout SessionEngine) {
        guard let outlet = lane.outlet.take() else { return }
        let messages = lane.takeQueue() + queues.datagrams.close(outlet, of: seat.peer.uid)
        guard !messages.isEmpty, engine.links.divert(messages, on: wire.id) else { return }
        seat.outlet.adopt(messages: messages.count, bytes: messages.reduce(0) { $0 + $1.count })
    }

    /// Sends what was accepted until now, and takes no more.
    private func finish(_ lane: DatagramLane, _ engine: inout SessionEngine) {
        guard let outlet = lane.outlet else { return }
        lane.enqueue(outlet.take() + queues.datagrams.close(outlet, of: lane.peer.peer.uid))
        lane.pump(&engine, at: loop.now)
        lane.outlet = nil
    }

    /// The link has ended: what was not sent over UDP is lost, as it may be.
    func close(_ seat: Seat) {
        guard let lane = seat.lane.take() else { return }
        if let outlet = lane.outlet.take() { _ = queues.datagrams.close(outlet, of: seat.peer.uid) }
        ports.release(lane.port, on: loop)
    }
}

// MARK: - Sending

extension SessionDatagrams {
    /// What senders left in the outlet.
    func takeMessages(of id: ConnectionID) {
        guard let lane = sockets.wires[id]?.seat?.lane, let outlet = lane.outlet else { return }
        lane.enqueue(outlet.take())
        noteDue(lane)
    }

    private func noteDue(_ lane: DatagramLane) {
        guard !lane.isDue else { return }
        lane.isDue = true
        dueLanes.append(lane)
    }

    /// Seals and sends what waits, once for everything that came together. Returns whether there was anything to look at.
    func pump(_ engine: inout SessionEngine) -> Bool {
        if dueLanes.isEmpty { return false }
        let due = dueLanes
        dueLanes.removeAll(keepingCapacity: true)
        for lane in due {
            lane.isDue = false
            guard sockets.wires[lane.peer.id]?.seat?.lane === lane else { continue }
            lane.pump(&engine, at: loop.now)
            watch(lane.port)
        }
        return true
    }

    /// Asks to hear when a socket that was full has room again.
    private func watch(_ port: DatagramPort) {
        let isBlocked = sockets.wires.values.contains { wire in
            wire.seat?.lane.map { $0.port === port && $0.isBlocked } ?? false
        }
        let interest: Readiness = isBlocked ? [.readable, .writable] : .readable
        guard port.interest != interest else { return }
        port.interest = interest
        try? loop.setInterest(port.socket.descriptor, interest)
    }

    private func lanes(of port: DatagramPort) -> [DatagramLane] {
        sockets.ordered.compactMap { $0.seat?.lane }.filter { $0.port === port }
    }
}

// MARK: - Receiving

extension SessionDatagrams {
    /// A UDP socket can be read or written: at most so many packets a turn.
    func ready(_ token: Int, _ readiness: Readiness, _ engine: inout SessionEngine) {
        guard let port = ports[token] else { return }
        if readiness.contains(.writable) { for lane in lanes(of: port) { noteDue(lane) } }
        if readiness != .writable { receive(from: port, &engine) }
        for lane in dueLanes {
            events.add(unreliable: lane.takeArrivals(), on: lane.peer.id, of: lane.peer.peer)
        }
    }

    private func receive(from port: DatagramPort, _ engine: inout SessionEngine) {
        let now = loop.now
        var budget = DatagramPorts.packets
        while budget > 0 {
            let received = port.socket.receive(with: ports.intake) { packet, source in
                guard let header = DatagramHeader(packet), let peer = engine.datagrams.admit(header),
                    let lane = sockets.wires[peer.id]?.seat?.lane
                else {
                    ports.strays += 1
                    return
                }
                lane.receive(
                    packet.extracting(DatagramHeader.byteCount..<packet.count), from: source, &engine, at: now
                )
                noteDue(lane)
            }
            ports.strays += received.dropped
            if received.isDrained { return }
            budget -= max(received.packets, 1)
        }
    }

    /// Packets that were for nobody.
    var strays: Int { ports.strays }
}
