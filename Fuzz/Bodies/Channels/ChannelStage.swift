import MultipeerCore
import MultipeerFraming
import MultipeerLink

/// A link whose peer is the script.
struct ChannelStage: ~Copyable {
    private var link: Link
    private var decoder = FrameDecoder()
    private var theirs: ChannelModel
    private var ours: OpenerModel
    private var now = Moment(nanoseconds: 1_000_000_000)
    private var own: [UInt32] = []
    private var costs: [UInt32: Int] = [:]
    private(set) var isOver = false

    init() {
        let local = LinkLimits(maxMessage: 65_536, maxChannels: 3, channelCredit: 400, messageCredit: 8_192)
        let remote = LinkLimits(maxMessage: 65_536, maxChannels: 2, channelCredit: 300, messageCredit: 6_144)
        link = Link(.init(local: local, remote: remote), now: now)
        theirs = ChannelModel(local)
        ours = OpenerModel(remote)
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let operation = input.byte()
        let number = UInt32(input.byte() % 12)
        switch operation & 0x0F {
        case 0:
            let kind = ChannelOpening.Kind(rawValue: input.byte() % 4)
            try receive(.open(channel: number, ChannelOpening(kind: kind, name: name(input.byte()))))
        case 1, 2: try receive(.data(channel: number, bytes(input.byte())))
        case 3:
            try receive(
                .fin(channel: number, sha256: operation & 0x20 == 0 ? nil : [UInt8](repeating: 7, count: 32)))
        case 4: try receive(.reset(channel: number, code(input.byte())))
        case 5: try receive(.stop(channel: number, code(input.byte())))
        case 6: try receive(.credit(channel: number, limit: UInt64(input.byte()) * 40))
        case 7: try receive(.done(channel: number, code(input.byte())))
        case 8: try open(input.byte())
        case 9: write(Int(input.byte()), to: pick(number))
        case 10: finish(pick(number))
        case 11: reset(pick(number), code(input.byte()))
        case 12: take(Int(input.byte()), number)
        case 13: stop(number, code(input.byte()))
        case 14: accept(number)
        default: try rare(number, input.byte())
        }
        // Some things happen before the network takes anything.
        if operation & 0x10 == 0 { try write(everything: operation & 0x40 == 0) }
        try check()
    }

    mutating func settle() throws(BrokenPromise) {
        guard !isOver else { return }
        try write(everything: true)
        try check()
    }

    private mutating func rare(_ number: UInt32, _ choice: UInt8) throws(BrokenPromise) {
        switch choice % 4 {
        case 0:
            theirs.done(number, .ok)
            link.done(number, .ok)
        case 1:
            let fullest = theirs.readable.map { theirs.unread(of: $0) }.max()
            let stopped = link.stopFullest(.busy)
            try promise(stopped.map { theirs.unread(of: $0) } == fullest, "the fullest channel is stopped")
            if let stopped { theirs.stop(stopped, .busy) }
        case 2:
            now = now + .milliseconds(Int(choice) * 4)
            link.advance(to: now)
        default: link.lost()
        }
    }

    // MARK: the peer

    private mutating func receive(_ frame: Frame) throws(BrokenPromise) {
        var buffer = ByteBuffer()
        frame.encode(into: &buffer)
        let bytes = buffer.takeAll()
        guard link.end == nil else { return }
        // Channel 0 is the link's, and only CREDIT may use it.
        let isOfLink = bytes[4...7].allSatisfy { $0 == 0 }
        if case .credit = frame {
            try judge(bytes, ours.receive(frame))
        } else if isOfLink {
            try judge(bytes, .protocolError)
        } else {
            switch frame {
            case .stop, .done: try judge(bytes, ours.receive(frame))
            default: try judge(bytes, theirs.receive(frame))
            }
        }
    }

    private mutating func judge(_ bytes: [UInt8], _ expected: CloseCode?) throws(BrokenPromise) {
        _ = link.receive(bytes.span, through: &decoder, at: now)
        var found: CloseCode?
        if case .violation(let violation) = link.end {
            found = violation.closeCode
            try promise(isPrintable("\(violation)"), "a violation is one printable line")
        }
        try promise(
            found == expected,
            "frame \(bytes.prefix(16)) leads to \(found as Any), not \(expected as Any)")
    }

    // MARK: the application

    private mutating func open(_ choice: UInt8) throws(BrokenPromise) {
        let isResource = choice & 1 == 1
        let number = link.open(ChannelOpening(kind: isResource ? .resource : .stream, name: name(choice)))
        own.append(number)
        try ours.open(number, isResource: isResource)
    }

    private func pick(_ choice: UInt32) -> UInt32 { own.isEmpty ? choice : own[Int(choice) % own.count] }

    private mutating func write(_ count: Int, to number: UInt32) {
        guard ours.channels[number]?.isEnding == false else { return }
        link.write(ours.write(count, to: number), to: number)
    }

    private mutating func finish(_ number: UInt32) {
        guard ours.channels[number]?.isEnding == false else { return }
        ours.finish(number)
        link.finish(number)
    }

    private mutating func reset(_ number: UInt32, _ code: CloseCode) {
        ours.reset(number, code)
        link.reset(number, code)
    }

    private mutating func take(_ count: Int, _ choice: UInt32) {
        let readable = theirs.readable
        guard !readable.isEmpty else { return }
        let number = readable[Int(choice) % readable.count]
        let count = min(count, theirs.unread(of: number))
        theirs.take(count, of: number)
        link.consumed(count, of: number)
    }

    private mutating func stop(_ number: UInt32, _ code: CloseCode) {
        theirs.stop(number, code)
        link.stop(number, code)
    }

    private mutating func accept(_ number: UInt32) {
        guard let cost = costs.removeValue(forKey: number) else { return }
        theirs.accept(cost)
        link.consumed(cost)
    }

    // MARK: output

    private mutating func write(everything: Bool) throws(BrokenPromise) {
        repeat {
            var output = ByteBuffer()
            _ = link.fill(&output, upTo: everything ? 65_536 : 2_048, now: now)
            for frame in try frames(output.takeAll()) {
                switch frame {
                case .open, .data, .fin, .reset: try ours.wrote(frame)
                case .stop, .credit, .done: try theirs.wrote(frame)
                default: break
                }
            }
        } while everything && link.end == nil && link.wantsToSend
        if everything, link.end == nil {
            try theirs.isSilent()
            try ours.isSilent()
        }
    }

    private mutating func check() throws(BrokenPromise) {
        isOver = link.end != nil
        guard !isOver else { return }
        let events = link.takeChannelEvents()
        var told: [ChannelModel.Told] = []
        for event in events {
            switch event {
            case .opened(let number, _, let cost):
                costs[number] = cost
                told.append(.opened(number, cost: cost))
            case .data(let number, let bytes): if !bytes.isEmpty { told.append(.data(number, bytes)) }
            case .finished(let number, let digest): told.append(.finished(number, digest: digest))
            case .aborted(let number, let code): told.append(.aborted(number, code))
            default: break
            }
        }
        try promise(told == theirs.takeTold(), "the application receives what arrived")
        try ours.heard(events)
        try promise(link.heldBytes == theirs.held, "what is held is what arrived and was not taken")
    }
}

func code(_ byte: UInt8) -> CloseCode { CloseCode(rawValue: UInt16(byte % 22)) }

private func bytes(_ choice: UInt8) -> [UInt8] {
    // Often small, sometimes as much as the whole credit and more.
    let count = choice < 0x80 ? Int(choice % 16) : Int(choice - 0x7F) * 4
    return (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ Int(choice)) }
}

private func name(_ choice: UInt8) -> String { String(repeating: "n", count: Int(choice % 8) + 1) }

/// Returns the frames that a link wrote.
func frames(_ bytes: [UInt8]) throws(BrokenPromise) -> [Frame] {
    var decoder = FrameDecoder()
    var reading = FrameReading()
    do throws(FramingError) {
        _ = try decoder.decode(bytes.span, into: &reading)
        // After an incomplete frame, this one would be a part of it.
        var end = ByteBuffer()
        Frame.ping(0).encode(into: &end)
        _ = try decoder.decode(end.takeAll().span, into: &reading)
    } catch {
        throw BrokenPromise(description: "a link writes valid frames: \(error)")
    }
    try promise(reading.frames.last == .ping(0) && !reading.isBroken, "a link writes whole frames")
    return reading.frames.dropLast()
}

private struct FrameReading: FrameSink {
    var frames: [Frame] = []
    var isBroken = false
    var frameLimit: Int { Limits.frame }
    var wantsFrames: Bool { true }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        if let frame = try? Frame(header, payload) { frames.append(frame) } else { isBroken = true }
    }
}
