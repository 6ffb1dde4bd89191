import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import TestSupport

/// Frames on their way, in order on each connection, and connections that die.
extension Neighbourhood {
    func post(_ frame: Frame, on wire: Int, from end: Int) {
        var buffer = ByteBuffer()
        frame.encode(into: &buffer)
        post(buffer.takeAll(), on: wire, from: end)
    }

    func post(_ frame: [UInt8], on wire: Int, from end: Int) {
        guard !wires[wire].isOver[end] else { return }
        listen(FrameKind(rawValue: frame[3]), wires[wire].nodes[end], wire)
        guard let frame = interfere(frame, wires[wire].nodes[end]) else { return }
        deliver(wire, to: 1 - end) { [self] in receive(frame, on: wire, at: end == 0 ? 1 : 0) }
    }

    /// In order on each connection and direction, unless the connection dies first.
    func deliver(_ wire: Int, to end: Int, _ act: @escaping () -> Void) {
        let moment = max(wires[wire].nextDelivery[end], now + wires[wire].latency)
        wires[wire].nextDelivery[end] = moment
        schedule(moment) { [self] in
            if !wires[wire].isDead, !wires[wire].isOver[end] { act() }
        }
    }

    func receive(_ frame: [UInt8], on wire: Int, at end: Int) {
        let index = wires[wire].nodes[end]
        guard let id = wires[wire].ids[end] else { return }
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        let payload = Array(frame.dropFirst(FrameHeader.byteCount))
        let understood = try? Frame(header, payload.span)
        if case .close(let code, reason: _)? = understood { nodes[index].heard.append(code) }
        guard let uid = nodes[index].links.first(where: { $0.value == id })?.key else {
            nodes[index].machine.receive(id, header, payload.span, at: now)
            return carryOut(index)
        }
        switch understood {
        case .close(let code, reason: _):
            finish(wire, end)
            endLink(index, id, mayResume: !nodes[index].used.contains(id) && code != .goodbye)
        case .ping(let token) where nodes[index].answersProbes:
            nodes[index].used.insert(id)
            post(Frame.pong(token), on: wire, from: end)
        case .pong:
            nodes[index].used.insert(id)
            nodes[index].machine.probeAnswered(by: uid, at: now)
            carryOut(index)
        default: nodes[index].used.insert(id)
        }
    }

    /// This end is done with the connection; the other learns it behind everything that was sent.
    func finish(_ wire: Int, _ end: Int) {
        wires[wire].isOver[end] = true
        guard wires[wire].ids[1 - end] != nil else { return }
        deliver(wire, to: 1 - end) { [self] in lose(wire, 1 - end, .lost) }
    }

    /// The connection dies: what is under way is lost, and each end notices in its own time.
    func kill(_ wire: Int, noticedWithin milliseconds: Int = 300) {
        guard !wires[wire].isDead else { return }
        wires[wire].isDead = true
        for end in [0, 1] { notice(wire, end, after: dice.milliseconds(0...milliseconds)) }
    }

    func notice(_ wire: Int, _ end: Int, after delay: Duration) {
        schedule(now + delay) { [self] in lose(wire, end, .lost) }
    }

    func lose(_ wire: Int, _ end: Int, _ setback: Setback) {
        guard !wires[wire].isOver[end], let id = wires[wire].ids[end] else { return }
        wires[wire].isOver[end] = true
        let index = wires[wire].nodes[end]
        if nodes[index].links.values.contains(id) {
            endLink(index, id, mayResume: !nodes[index].used.contains(id))
        } else {
            nodes[index].machine.lost(id, setback, at: now)
            carryOut(index)
        }
    }

    func endLink(_ index: Int, _ id: ConnectionID, mayResume: Bool) {
        guard let uid = nodes[index].links.first(where: { $0.value == id })?.key else { return }
        nodes[index].links[uid] = nil
        nodes[index].events.append(.ended(uid, id))
        nodes[index].machine.linkEnded(id, of: uid, mayResume: mayResume, at: now)
        carryOut(index)
        if !nodes[index].open.contains(uid) { insist(index, on: uid) }
    }
}
