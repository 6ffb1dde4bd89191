import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink

/// Both ends of channels: what openers write and readers take.
final class ChannelTraffic: Subsystem {
    let world: World

    init(_ world: World) { self.world = world }

    /// Bytes that an application writes ahead of its link.
    private static let ahead = 8_192

    func open(_ transfer: Scenario.Transfer, of node: Node) {
        guard node.isRunning, !node.engine.isLeaving, !node.links.isEmpty else { return }
        let socket = random.pick(node.links)
        let opening = ChannelOpening(
            kind: transfer.isFile ? .resource : .stream, name: "f",
            size: transfer.isFile ? UInt64(transfer.bytes) : nil,
            isResumable: transfer.isFile && transfer.bytes % 3 == 1)
        guard let number = node.engine.links.open(opening, on: socket.id) else {
            return fail(.links, "\(name(socket)) accepts no channel")
        }
        let channel = SimulatedChannel(
            socket.connection, socket.end, number, transfer, opening, isEager: random.chance(oneIn: 2))
        socket.connection.channels.append(channel)
        say("\(node.index) opens channel \(number) on \(name(socket)): \(transfer)")
        feed(channel, socket, of: node)
        settle(node)
    }

    /// Writes some more, and the end once everything is written.
    private func feed(_ channel: SimulatedChannel, _ socket: SimulatedSocket, of node: Node) {
        while channel.opener.base != nil, !channel.opener.isOver, !channel.opener.isFinished,
            channel.opener.written - channel.opener.sent < ChannelTraffic.ahead
        {
            guard channel.opener.written < channel.goal else { return close(channel, socket, of: node) }
            let count = min(random.uniform(1...4_096), channel.goal - channel.opener.written)
            node.engine.links.write(
                channel.bytes(from: channel.opener.written, count: count), to: channel.number, on: socket.id)
            channel.opener.written += count
        }
    }

    private func close(_ channel: SimulatedChannel, _ socket: SimulatedSocket, of node: Node) {
        if case .reset = channel.transfer.end { return giveUp(channel, socket, of: node) }
        channel.opener.isFinished = true
        node.engine.links.finish(channel.number, digest: channel.digest, on: socket.id)
    }

    private func giveUp(_ channel: SimulatedChannel, _ socket: SimulatedSocket, of node: Node) {
        channel.opener.reset = .cancelled
        channel.opener.isOver = true
        node.engine.reset(channel.number, .cancelled, on: socket.id)
    }

    /// Gives up what is not finished when the application leaves, as a session does.
    func giveUpFlows(of node: Node) {
        for socket in node.links {
            for channel in socket.connection.channels
            where channel.end == socket.end && !channel.opener.isOver && !channel.opener.isFinished {
                giveUp(channel, socket, of: node)
            }
        }
    }

    /// Ends the channels of a link that is over at this end.
    func endFlows(_ socket: SimulatedSocket) {
        for channel in socket.connection.channels {
            if channel.end == socket.end {
                channel.opener.isOver = true
            } else {
                channel.reader.isOver = true
            }
        }
    }
}

// MARK: - Events of the engine

extension ChannelTraffic {
    func heard(_ events: [ChannelEvent], on socket: SimulatedSocket, of node: Node) {
        for event in events where failure == nil {
            switch event {
            case .opened(let number, let opening, let cost):
                opened(number, opening, socket, of: node)
                observer.consumed(cost, on: socket, of: node)
            case .data(let number, let bytes):
                hear(number, of: 1 - socket.end, socket) { received(bytes, $0, socket, of: node) }
            case .finished(let number, let digest):
                hear(number, of: 1 - socket.end, socket) { finished(digest, $0, socket, of: node) }
            case .aborted(let number, let code):
                hear(number, of: 1 - socket.end, socket) { channel in
                    expect(channel.opener.reset == code, channel, "is reset with \(code), but not by an end")
                    channel.reader.isOver = true
                }
            case .begins(let number, let offset):
                hear(number, of: 1 - socket.end, socket) { begins(at: offset, $0) }
            case .began, .resumes, .wrote, .ended, .stopped, .completed:
                heardAsOpener(event, socket, of: node)
            }
        }
    }

    private func heardAsOpener(_ event: ChannelEvent, _ socket: SimulatedSocket, of node: Node) {
        switch event {
        case .began(let number):
            hear(number, of: socket.end, socket) { channel in
                expect(!channel.opener.hasBegun, channel, "begins twice")
                channel.opener.hasBegun = true
            }
        case .wrote(let number, pieces: _, let bytes):
            hear(number, of: socket.end, socket) { channel in
                channel.opener.sent += bytes
                expect(channel.opener.sent <= channel.opener.written, channel, "brings more than was written")
                feed(channel, socket, of: node)
            }
        case .ended(let number):
            hear(number, of: socket.end, socket) { channel in
                let isWhole =
                    channel.opener.isFinished && channel.opener.sent == channel.opener.written
                    && !channel.opener.hasEnded
                expect(
                    isWhole, channel,
                    "ends with \(channel.opener.sent) of \(channel.opener.written) bytes sent")
                channel.opener.hasEnded = true
                channel.opener.isOver = !channel.transfer.isFile
            }
        case .stopped(let number, let code):
            hear(number, of: socket.end, socket) { channel in
                expect(channel.reader.stop == code, channel, "is stopped with \(code), but not by an end")
                channel.opener.isOver = true
            }
        case .completed(let number, let code):
            hear(number, of: socket.end, socket) { channel in
                let isSaid = channel.transfer.isFile && channel.reader.done ?? channel.reader.stop == code
                expect(isSaid, channel, "is done with \(code), but no end sent DONE")
                channel.opener.isOver = true
            }
        case .resumes(let number, let offer):
            hear(number, of: socket.end, socket) { resumes(offer, $0, socket, of: node) }
        case .opened, .begins, .data, .finished, .aborted: break
        }
    }

    /// Compares what the reader has, and begins after it or at 0.
    private func resumes(
        _ offer: ResumeOffer, _ channel: SimulatedChannel, _ socket: SimulatedSocket, of node: Node
    ) {
        expect(
            offer == channel.offer && channel.opener.base == nil, channel, "is resumed from \(offer.offset)")
        let base = channel.hasOtherBeginning ? 0 : Int(clamping: offer.offset)
        (channel.opener.base, channel.opener.written, channel.opener.sent) = (base, base, base)
        node.engine.links.begin(channel.number, at: UInt64(base), on: socket.id)
        feed(channel, socket, of: node)
    }

    private func begins(at offset: UInt64, _ channel: SimulatedChannel) {
        expect(
            channel.reader.base == nil && channel.opener.base == Int(clamping: offset), channel,
            "begins at \(offset)")
        let base = Int(clamping: offset)
        (channel.reader.base, channel.reader.received, channel.reader.taken) = (base, base, base)
    }

    private func opened(
        _ number: UInt32, _ opening: ChannelOpening, _ socket: SimulatedSocket, of node: Node
    ) {
        hear(number, of: 1 - socket.end, socket) { channel in
            expect(
                !channel.reader.isOpened && channel.opening == opening, channel, "is opened as something else"
            )
            channel.reader.isOpened = true
            guard opening.isResumable else { return }
            let report = ReaderReport(resume: channel.offer)
            let isOver = node.engine.links.read(report, of: number, on: socket.id)
            // A machine that was suspended may read OPEN and find in the same turn that the link has timed out.
            let isLinked = node.engine.links.peer(on: socket.id) != nil
            expect(isOver != isLinked, channel, "is over for its reader before it begins")
        }
    }

    private func received(
        _ bytes: [UInt8], _ channel: SimulatedChannel, _ socket: SimulatedSocket, of node: Node
    ) {
        expect(
            channel.reader.isOpened && channel.reader.base != nil && !channel.reader.isWhole, channel,
            "delivers bytes out of order")
        expect(
            channel.bytes(from: channel.reader.received, count: bytes.count) == bytes, channel,
            "brings other bytes at \(channel.reader.received) than were written")
        channel.reader.received += bytes.count
        observer.counts.bytes += bytes.count
        expect(
            channel.reader.received <= channel.opener.sent, channel,
            "brings \(channel.reader.received) bytes, and \(channel.opener.sent) were sent")
        // It grows by at most what was taken; `watchMemory` checks that all windows together fit into the memory.
        if channel.held > Int(node.profile.window) + channel.reader.taken - (channel.reader.base ?? 0) {
            fail(.memory, "\(channel.held) bytes wait on \(name(channel)), beyond its window")
        }
        readSoon(channel, socket, of: node)
    }

    private func finished(
        _ digest: [UInt8]?, _ channel: SimulatedChannel, _ socket: SimulatedSocket, of node: Node
    ) {
        expect(
            channel.reader.isOpened && !channel.reader.isWhole && channel.opener.isFinished, channel,
            "ends out of order")
        expect(
            channel.reader.received == channel.opener.written && digest == channel.digest, channel,
            "ends after \(channel.reader.received) of \(channel.opener.written) bytes")
        channel.reader.isWhole = true
        readSoon(channel, socket, of: node)
    }

    /// Handles a channel of the peer that was stopped because the session holds too much.
    func relieved(_ number: UInt32, _ socket: SimulatedSocket) {
        hear(number, of: 1 - socket.end, socket) { channel in
            channel.reader.stop = .busy
            channel.reader.isOver = true
        }
    }

    /// Handles an event of a channel that one end opened: it comes only while the channel is not over for the end that
    /// receives it.
    private func hear(
        _ number: UInt32, of end: Int, _ socket: SimulatedSocket, _ body: (SimulatedChannel) -> Void
    ) {
        guard let channel = socket.connection.channels.first(where: { $0.number == number && $0.end == end })
        else {
            return fail(.channels, "\(name(socket)) reports channel \(number), which was not opened")
        }
        if end == socket.end, channel.opener.reset != nil { return }
        let isOver = end == socket.end ? channel.opener.isOver : channel.reader.isOver
        expect(!isOver, channel, "is over, and \(socket.connection.nodes[socket.end]) receives more")
        observer.trace.note(8, Int(number), channel.reader.received, at: now)
        body(channel)
    }

    private func expect(_ condition: Bool, _ channel: SimulatedChannel, _ text: @autoclosure () -> String) {
        if !condition { fail(.channels, "\(name(channel)) \(text())") }
    }

    func name(_ channel: SimulatedChannel) -> String {
        "channel \(channel.number) of \(channel.connection.nodes[channel.end]) on connection \(channel.connection.number)"
    }
}

// MARK: - What readers do

extension ChannelTraffic {
    /// Lets readers take what was received: some at once, after all events that came with it, and others when they get
    /// to it.
    private func readSoon(_ channel: SimulatedChannel, _ socket: SimulatedSocket, of node: Node) {
        guard !channel.reader.isReading else { return }
        channel.reader.isReading = true
        let place = socket.connection.channels.firstIndex { $0 === channel } ?? 0
        post(
            .read(connection: socket.connection.number, channel: place, life: node.process.life),
            after: channel.isEager ? 0 : Int64(random.uniform(1...300)) * 1_000_000)
    }

    func read(_ connection: SimulatedConnection, _ place: Int, _ life: Int) {
        let channel = connection.channels[place]
        guard !channel.reader.isOver, let socket = connection.sockets[1 - channel.end] else { return }
        let node = nodes[connection.nodes[1 - channel.end]]
        guard node.process.life == life else { return }
        guard node.isRunning, !node.application.isSlow else {
            return post(.read(connection: connection.number, channel: place, life: life), after: 200_000_000)
        }
        channel.reader.isReading = false
        read(channel, socket, of: node)
        if !channel.reader.isOver, channel.held > 0 { readSoon(channel, socket, of: node) }
        settle(node)
    }

    private func read(_ channel: SimulatedChannel, _ socket: SimulatedSocket, of node: Node) {
        let waiting = channel.reader.received - channel.reader.taken
        let count = channel.isEager || waiting < 2 ? waiting : random.uniform(1...waiting)
        channel.reader.taken += count
        var report = ReaderReport(consumed: count)
        if case .stopped(let after) = channel.transfer.end, channel.reader.taken >= after,
            !channel.reader.isWhole
        {
            report.stop = .cancelled
            channel.reader.stop = .cancelled
        } else if channel.reader.isWhole, channel.reader.taken == channel.reader.received {
            report.isDrained = true
            if channel.transfer.isFile {
                report.done = .ok
                channel.reader.done = .ok
            }
        }
        let isOver = node.engine.links.read(report, of: channel.number, on: socket.id)
        expect(
            isOver == (report.stop != nil || report.isDrained), channel,
            "is \(isOver ? "" : "not ")over for its reader after \(channel.reader.taken) bytes")
        channel.reader.isOver = isOver
        if report.isDrained { observer.counts.channels += 1 }
    }
}
