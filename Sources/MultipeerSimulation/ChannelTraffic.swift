import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink

/// Both ends of channels: what openers write and readers take.
final class ChannelTraffic: Part {
    let world: World

    init(_ world: World) { self.world = world }

    /// Bytes that an application writes ahead of its link.
    private static let ahead = 8_192

    func open(_ transfer: Scenario.Transfer, of node: Node) {
        guard node.isRunning, !node.engine.isLeaving, !node.links.isEmpty else { return }
        let socket = dice.pick(node.links)
        let opening = ChannelOpening(
            kind: transfer.isFile ? .resource : .stream, name: "f",
            size: transfer.isFile ? UInt64(transfer.bytes) : nil)
        guard let number = node.engine.links.open(opening, on: socket.id) else {
            return fail(.links, "\(name(socket)) takes no channel")
        }
        let flow = Flow(
            socket.wire, socket.end, number, transfer, opening, isEager: dice.hits(oneIn: 2))
        socket.wire.flows.append(flow)
        say("\(node.index) opens channel \(number) on \(name(socket)): \(transfer)")
        feed(flow, socket, of: node)
        settle(node)
    }

    /// Writes some more, and the end when everything is written.
    private func feed(_ flow: Flow, _ socket: Socket, of node: Node) {
        while !flow.opener.isOver, !flow.opener.isFinished,
            flow.opener.written - flow.opener.sent < ChannelTraffic.ahead
        {
            guard flow.opener.written < flow.goal else { return close(flow, socket, of: node) }
            let count = min(dice.roll(1...4_096), flow.goal - flow.opener.written)
            node.engine.links.write(
                flow.bytes(from: flow.opener.written, count: count), to: flow.number, on: socket.id)
            flow.opener.written += count
        }
    }

    private func close(_ flow: Flow, _ socket: Socket, of node: Node) {
        if case .reset = flow.transfer.end { return giveUp(flow, socket, of: node) }
        flow.opener.isFinished = true
        node.engine.links.finish(flow.number, digest: flow.digest, on: socket.id)
    }

    private func giveUp(_ flow: Flow, _ socket: Socket, of node: Node) {
        flow.opener.reset = .cancelled
        flow.opener.isOver = true
        node.engine.reset(flow.number, .cancelled, on: socket.id)
    }

    /// The application leaves: what is not finished by now is given up, like by a session.
    func giveUpFlows(of node: Node) {
        for socket in node.links {
            for flow in socket.wire.flows
            where flow.end == socket.end && !flow.opener.isOver && !flow.opener.isFinished {
                giveUp(flow, socket, of: node)
            }
        }
    }

    /// A link is over at this end, and so are its channels.
    func endFlows(_ socket: Socket) {
        for flow in socket.wire.flows {
            if flow.end == socket.end { flow.opener.isOver = true } else { flow.reader.isOver = true }
        }
    }
}

// MARK: - What the engine says

extension ChannelTraffic {
    func heard(_ events: [ChannelEvent], on socket: Socket, of node: Node) {
        for event in events where failure == nil {
            switch event {
            case .opened(let number, let opening, let cost):
                opened(number, opening, socket)
                observer.consumed(cost, on: socket, of: node)
            case .data(let number, let bytes):
                hear(number, of: 1 - socket.end, socket) { received(bytes, $0, socket, of: node) }
            case .finished(let number, let digest):
                hear(number, of: 1 - socket.end, socket) { finished(digest, $0, socket, of: node) }
            case .aborted(let number, let code):
                hear(number, of: 1 - socket.end, socket) { flow in
                    expect(flow.opener.reset == code, flow, "is reset with \(code), and nobody did")
                    flow.reader.isOver = true
                }
            case .began, .wrote, .ended, .stopped, .completed: heardAsOpener(event, socket, of: node)
            }
        }
    }

    private func heardAsOpener(_ event: ChannelEvent, _ socket: Socket, of node: Node) {
        switch event {
        case .began(let number):
            hear(number, of: socket.end, socket) { flow in
                expect(!flow.opener.hasBegun, flow, "begins twice")
                flow.opener.hasBegun = true
            }
        case .wrote(let number, pieces: _, let bytes):
            hear(number, of: socket.end, socket) { flow in
                flow.opener.sent += bytes
                expect(flow.opener.sent <= flow.opener.written, flow, "brings more than was written")
                feed(flow, socket, of: node)
            }
        case .ended(let number):
            hear(number, of: socket.end, socket) { flow in
                let isWhole =
                    flow.opener.isFinished && flow.opener.sent == flow.opener.written && !flow.opener.hasEnded
                expect(isWhole, flow, "ends with \(flow.opener.sent) of \(flow.opener.written) bytes sent")
                flow.opener.hasEnded = true
                flow.opener.isOver = !flow.transfer.isFile
            }
        case .stopped(let number, let code):
            hear(number, of: socket.end, socket) { flow in
                expect(flow.reader.stop == code, flow, "is stopped with \(code), and nobody did")
                flow.opener.isOver = true
            }
        case .completed(let number, let code):
            hear(number, of: socket.end, socket) { flow in
                let isSaid = flow.transfer.isFile && flow.reader.done ?? flow.reader.stop == code
                expect(isSaid, flow, "is done with \(code), and nobody said so")
                flow.opener.isOver = true
            }
        case .opened, .data, .finished, .aborted: break
        }
    }

    private func opened(_ number: UInt32, _ opening: ChannelOpening, _ socket: Socket) {
        hear(number, of: 1 - socket.end, socket) { flow in
            expect(!flow.reader.isOpened && flow.opening == opening, flow, "is opened as something else")
            flow.reader.isOpened = true
        }
    }

    private func received(_ bytes: [UInt8], _ flow: Flow, _ socket: Socket, of node: Node) {
        expect(flow.reader.isOpened && !flow.reader.isWhole, flow, "brings bytes that are out of turn")
        expect(
            flow.bytes(from: flow.reader.received, count: bytes.count) == bytes, flow,
            "brings other bytes at \(flow.reader.received) than were written")
        flow.reader.received += bytes.count
        observer.counts.bytes += bytes.count
        expect(
            flow.reader.received <= flow.opener.sent, flow,
            "brings \(flow.reader.received) bytes, and \(flow.opener.sent) were sent")
        if flow.held > node.profile.window {
            fail(.memory, "\(flow.held) bytes wait on \(name(flow)), beyond its window")
        }
        readSoon(flow, socket, of: node)
    }

    private func finished(_ digest: [UInt8]?, _ flow: Flow, _ socket: Socket, of node: Node) {
        expect(
            flow.reader.isOpened && !flow.reader.isWhole && flow.opener.isFinished, flow, "ends out of turn")
        expect(
            flow.reader.received == flow.opener.written && digest == flow.digest, flow,
            "ends after \(flow.reader.received) of \(flow.opener.written) bytes")
        flow.reader.isWhole = true
        readSoon(flow, socket, of: node)
    }

    /// The session holds too much: this channel of the peer was stopped.
    func relieved(_ number: UInt32, _ socket: Socket) {
        hear(number, of: 1 - socket.end, socket) { flow in
            flow.reader.stop = .busy
            flow.reader.isOver = true
        }
    }

    /// Something about the channel that one end opened: it comes while the channel is not over for who hears it.
    private func hear(_ number: UInt32, of end: Int, _ socket: Socket, _ body: (Flow) -> Void) {
        guard let flow = socket.wire.flows.first(where: { $0.number == number && $0.end == end }) else {
            return fail(.channels, "\(name(socket)) brings news of channel \(number), which nobody opened")
        }
        if end == socket.end, flow.opener.reset != nil { return }
        let isOver = end == socket.end ? flow.opener.isOver : flow.reader.isOver
        expect(!isOver, flow, "is over, and \(socket.wire.nodes[socket.end]) hears more")
        observer.trace.note(8, Int(number), flow.reader.received, at: now)
        body(flow)
    }

    private func expect(_ condition: Bool, _ flow: Flow, _ text: @autoclosure () -> String) {
        if !condition { fail(.channels, "\(name(flow)) \(text())") }
    }

    func name(_ flow: Flow) -> String {
        "channel \(flow.number) of \(flow.wire.nodes[flow.end]) on wire \(flow.wire.number)"
    }
}

// MARK: - What readers do

extension ChannelTraffic {
    /// Some take what comes at once, when everything that came with it is told, and others when they get to it.
    private func readSoon(_ flow: Flow, _ socket: Socket, of node: Node) {
        guard !flow.reader.isReading else { return }
        flow.reader.isReading = true
        let place = socket.wire.flows.firstIndex { $0 === flow } ?? 0
        post(
            .read(wire: socket.wire.number, flow: place, life: node.process.life),
            after: flow.isEager ? 0 : Int64(dice.roll(1...300)) * 1_000_000)
    }

    func read(_ wire: Wire, _ place: Int, _ life: Int) {
        let flow = wire.flows[place]
        guard !flow.reader.isOver, let socket = wire.sockets[1 - flow.end] else { return }
        let node = nodes[wire.nodes[1 - flow.end]]
        guard node.process.life == life else { return }
        guard node.isRunning, !node.application.isSlow else {
            return post(.read(wire: wire.number, flow: place, life: life), after: 200_000_000)
        }
        flow.reader.isReading = false
        read(flow, socket, of: node)
        if !flow.reader.isOver, flow.held > 0 { readSoon(flow, socket, of: node) }
        settle(node)
    }

    private func read(_ flow: Flow, _ socket: Socket, of node: Node) {
        let waiting = flow.reader.received - flow.reader.taken
        let count = flow.isEager || waiting < 2 ? waiting : dice.roll(1...waiting)
        flow.reader.taken += count
        var report = ReaderReport(consumed: count)
        if case .stopped(let after) = flow.transfer.end, flow.reader.taken >= after, !flow.reader.isWhole {
            report.stop = .cancelled
            flow.reader.stop = .cancelled
        } else if flow.reader.isWhole, flow.reader.taken == flow.reader.received {
            report.isDrained = true
            if flow.transfer.isFile {
                report.done = .ok
                flow.reader.done = .ok
            }
        }
        let isOver = node.engine.links.read(report, of: flow.number, on: socket.id)
        expect(
            isOver == (report.stop != nil || report.isDrained), flow,
            "is \(isOver ? "" : "not ")over for its reader after \(flow.reader.taken) bytes")
        flow.reader.isOver = isOver
        if report.isDrained { observer.counts.channels += 1 }
    }
}
