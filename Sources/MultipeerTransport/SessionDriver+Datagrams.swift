package import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerSecurity

// MARK: what senders call, on any thread

extension SessionDriver {
    /// Queues one message. An unreliable one goes over UDP when it fits there and UDP gets through; else it takes the
    /// link, whose queue it waits for like any other. [dgram.fallback]
    nonisolated package func send(
        _ message: [UInt8], to uid: UID, delivery: Delivery
    ) async throws(SendFault) {
        if delivery == .unreliable, message.count <= Limits.datagramMessage, let outlet = datagramOutlets[uid]
        {
            do {
                try await outlet.send(message)
                return
            } catch is PathDown {
                // It takes the link.
            } catch {
                throw .cancelled
            }
        }
        try await send(message, to: uid)
    }
}

// MARK: a link's datagrams

extension SessionDriver {
    /// Offers datagrams on a new link, to a peer whose connection data speaks of them.
    func openDatagrams(_ wire: Wire, _ seat: Seat, _ data: ConnectionData) {
        guard configuration.datagrams, data.flags.contains(.datagrams),
            let local = wire.socket.localAddress?.host
        else { return }
        do throws(SocketFault) {
            let everywhere = configuration.listening.isEmpty
            let port = try datagramPorts.open(at: everywhere ? nil : local, on: loop, for: self)
            let path = DatagramPath(
                isControlling: peer.uid < seat.peer.uid, isProtected: seat.isEncrypted,
                port: configuration.datagramPort?(port.number) ?? port.number,
                timing: configuration.datagramTiming)
            seat.lane = DatagramLane(
                path, port: port, host: wire.remote.host, keyLog: configuration.keyLog)
            tendDatagrams(wire, seat)
        } catch {
            // Without a socket unreliable messages take the link.
        }
    }

    /// The link has ended: what was not sent over UDP is lost, as it may be.
    func closeDatagrams(_ seat: Seat) {
        guard let lane = seat.lane.take() else { return }
        if let outlet = lane.outlet.take() { _ = datagramOutlets.close(outlet, of: seat.peer.uid) }
        if let association = lane.path.association { datagramPorts.forget(association) }
        datagramPorts.release(lane.port, on: loop)
    }

    /// Sends what was accepted until now, and takes no more.
    func finishDatagrams(_ wire: Wire, _ seat: Seat) {
        guard let lane = seat.lane, let outlet = lane.outlet else { return }
        takeDatagrams(of: wire.id)
        lane.enqueue(datagramOutlets.close(outlet, of: seat.peer.uid))
        lane.pump(at: loop.now)
        lane.outlet = nil
    }

    /// The peer's DGRAM.
    func datagramsOffered(_ offer: DatagramOffer, on id: ConnectionID) {
        guard let wire = wires[id], let seat = wire.seat else { return }
        guard let lane = seat.lane else { return declineDatagrams(offer, id, seat) }
        lane.path.receive(offer, at: loop.now)
        tendDatagrams(wire, seat)
    }

    /// Whoever wants none says so once, in answer to an offer: port 0.
    private func declineDatagrams(_ offer: DatagramOffer, _ id: ConnectionID, _ seat: Seat) {
        guard offer.port != 0, !seat.hasDeclinedDatagrams else { return }
        seat.hasDeclinedDatagrams = true
        let association = datagramPorts.draw(using: &randomness)
        engine.say(.datagram(DatagramOffer(association: association, port: 0)), on: id)  // [dgram.offer]
    }

    func advanceDatagrams(_ wire: Wire, _ seat: Seat) {
        guard let lane = seat.lane else { return }
        lane.path.advance(to: loop.now)
        tendDatagrams(wire, seat)
    }

    /// What senders left in the outlet.
    func takeDatagrams(of id: ConnectionID) {
        guard let wire = wires[id], let seat = wire.seat, let lane = seat.lane, let outlet = lane.outlet
        else {
            return
        }
        lane.enqueue(outlet.take())
        tendDatagrams(wire, seat)
    }

    /// What the application has taken of the datagrams under this key.
    func datagramsConsumed(_ cost: Int, key: Int) {
        guard let id = UInt32(exactly: ~key).map(ConnectionID.init(rawValue:)) else { return }
        wires[id]?.seat?.lane?.consumed(cost)
    }
}

// MARK: receiving

extension SessionDriver {
    /// A UDP socket can be read or written: at most so many packets a turn. What is for nobody is dropped without a
    /// word. [dgram.silent]
    func handleDatagrams(_ token: Int, _ readiness: Readiness) {
        guard let port = datagramPorts[token] else { return }
        var touched = readiness.contains(.writable) ? users(of: port) : []
        if readiness != .writable { receive(from: port, &touched) }
        for id in touched {
            guard let wire = wires[id], let seat = wire.seat, let lane = seat.lane else { continue }
            for message in lane.takeArrivals() {
                let event = SessionEvent.message(Message(peer: seat.peer, message, .unreliable))
                pending.append(event, key: ~Int(id.rawValue), cost: message.cost)
            }
            tendDatagrams(wire, seat)
        }
    }

    private func receive(from port: DatagramPort, _ touched: inout [ConnectionID]) {
        let now = loop.now
        var budget = DatagramPorts.packets
        while budget > 0 {
            let received = port.socket.receive(with: datagramPorts.intake) { packet, source in
                guard let header = DatagramHeader(packet), let id = datagramPorts.link(for: header),
                    let lane = wires[id]?.seat?.lane, lane.path.admits(header)
                else {
                    datagramPorts.strays += 1
                    return
                }
                lane.receive(
                    packet.extracting(DatagramHeader.byteCount..<packet.count), from: source, at: now)
                if !touched.contains(id) { touched.append(id) }
            }
            datagramPorts.strays += received.dropped
            if received.isDrained { return }
            budget -= max(received.packets, 1)
        }
    }

    private func users(of port: DatagramPort) -> [ConnectionID] {
        wires.values.filter { $0.seat?.lane?.port === port }.map(\.id)
    }

    /// Packets that were for nobody.
    package var strayDatagrams: Int { datagramPorts.strays }
}

// MARK: what a path decides

extension SessionDriver {
    /// Carries out what the path decided, and sends what waits.
    func tendDatagrams(_ wire: Wire, _ seat: Seat) {
        guard let lane = seat.lane else { return }
        var actions = lane.path.takeActions()
        repeat {
            for action in actions { carryOut(action, lane, wire, seat) }
            lane.pump(at: loop.now)
            actions = lane.path.takeActions()
        } while !actions.isEmpty
        watch(lane.port)
    }

    private func carryOut(_ action: DatagramPath.Action, _ lane: DatagramLane, _ wire: Wire, _ seat: Seat) {
        let now = loop.now
        switch action {
        case .drawAssociation:
            let association = datagramPorts.draw(using: &randomness)
            if let former = lane.path.association { datagramPorts.forget(former) }
            datagramPorts.assign(association, to: wire.id)
            engine.say(.datagram(lane.path.announce(association, at: now)), on: wire.id)
        case .begin(let context): begin(lane, wire, context)
        case .drop: lane.drop()
        case .retransmit: lane.retransmit(at: now)
        case .send(let content): lane.send(content, at: now)
        case .up:
            guard !engine.isLeaving else { return }
            lane.outlet = datagramOutlets.open(seat.peer.uid) { [errands, id = wire.id] in
                errands.add(.datagrams(id))
            }
        case .down: divertDatagrams(lane, wire, seat)
        }
    }

    private func begin(_ lane: DatagramLane, _ wire: Wire, _ context: [UInt8]?) {
        guard let context else { return lane.begin(nil, at: loop.now) }
        do throws(SecurityFault) {
            let key = try wire.channel?.exportKey(  // [dgram.key]
                label: "EXPORTER-mpc1-datagram", context: context, count: DatagramChannel.keyByteCount)
            guard var key else { throw .internal("the link has no channel") }
            lane.begin(SecureBytes(erasing: &key), at: loop.now)  // [secret.erase]
        } catch {
            lane.path.failed(at: loop.now)
        }
    }

    /// UDP does not get through any more: what was accepted for it takes the link. [dgram.fallback]
    private func divertDatagrams(_ lane: DatagramLane, _ wire: Wire, _ seat: Seat) {
        guard let outlet = lane.outlet.take() else { return }
        let messages = lane.takeQueue() + datagramOutlets.close(outlet, of: seat.peer.uid)
        guard !messages.isEmpty, !engine.isLeaving else { return }
        seat.outlet.adopt(messages: messages.count, bytes: messages.reduce(0) { $0 + $1.count })
        engine.enqueue(messages, on: wire.id)
    }

    /// Asks to hear when a socket that was full has room again.
    private func watch(_ port: DatagramPort) {
        let isBlocked = wires.values.contains { wire in
            wire.seat?.lane.map { $0.port === port && $0.isBlocked } ?? false
        }
        let interest: Readiness = isBlocked ? [.readable, .writable] : .readable
        guard port.interest != interest else { return }
        port.interest = interest
        try? loop.setInterest(port.socket.descriptor, interest)
    }
}
