import MultipeerCore
import MultipeerFraming
import MultipeerLink

/// One of the two links of a `ChannelPair`, with its application.
struct ChannelEnd: ~Copyable {
    /// A channel that this end opened.
    struct Own {
        let isResource: Bool
        var written = 0
        var isEnding = false
        var wasReset = false
        var endings = 0
        var isFinWritten = false
    }

    /// A channel of the other end.
    struct Peers {
        let isResource: Bool
        let cost: Int
        var came = 0
        var taken = 0
        var isAccepted = false
        var wasStopped = false
        var isFinished = false
        var isDone = false
        var endings = 0
    }

    private var link: Link
    private var decoder = FrameDecoder()
    private var output: [UInt8] = []
    private(set) var ours: [UInt32: Own] = [:]
    private var theirs: [UInt32: Peers] = [:]

    init(now: Moment) {
        let limits = LinkLimits(maxMessage: 65_536, maxChannels: 3, channelCredit: 500, messageCredit: 8_192)
        link = Link(.init(local: limits, remote: limits), now: now)
    }

    mutating func step(
        _ operation: UInt8, _ choice: UInt32, _ input: inout InputReader, at now: Moment
    ) throws(BrokenPromise) {
        link.advance(to: now)
        switch operation {
        case 1, 2:
            let opening = ChannelOpening(kind: choice & 1 == 1 ? .resource : .stream, name: "n")
            ours[link.open(opening)] = Own(isResource: choice & 1 == 1)
        case 3, 4: write(Int(input.byte()) * 5, to: pick(choice, of: ours.keys))
        case 5: finish(pick(choice, of: ours.keys))
        case 6:
            let number = pick(choice, of: ours.keys)
            if ours[number]?.endings == 0 { ours[number]?.wasReset = true }
            link.reset(number, code(input.byte()))
        case 7, 8: take(Int(input.byte()) * 4, of: pick(choice, of: theirs.keys))
        case 9: accept(pick(choice, of: theirs.keys))
        case 10: stop(pick(choice, of: theirs.keys), code(input.byte()))
        case 11: done(pick(choice, of: theirs.keys), code(input.byte()))
        case 12:
            if let number = link.stopFullest(.busy) { theirs[number]?.wasStopped = true }
        case 13:
            if choice < 64 { link.enqueue([[UInt8](repeating: 1, count: Int(choice) * 40)]) }
        default: try fill(2_048, at: now)
        }
        if operation < 14, choice & 0x40 == 0 { try fill(65_536, at: now) }
        try listen()
    }

    private func pick(_ choice: UInt32, of numbers: some Collection<UInt32>) -> UInt32 {
        // The later ones, which are still open.
        let latest = numbers.sorted().suffix(4)
        return latest.isEmpty ? 0 : latest[latest.startIndex + Int(choice) % latest.count]
    }
}

// MARK: the application

extension ChannelEnd {
    private mutating func write(_ count: Int, to number: UInt32) {
        guard let channel = ours[number], !channel.isEnding, channel.endings == 0, !channel.wasReset else {
            return
        }
        link.write((0..<count).map { OpenerModel.byte(channel.written + $0, of: number) }, to: number)
        ours[number]?.written += count
    }

    private mutating func finish(_ number: UInt32) {
        guard ours[number]?.isEnding == false else { return }
        ours[number]?.isEnding = true
        link.finish(number)
    }

    private mutating func take(_ count: Int, of number: UInt32) {
        guard let channel = theirs[number], !channel.wasStopped, !channel.isDone, channel.endings < 2 else {
            return
        }
        let count = min(count, channel.came - channel.taken)
        theirs[number]?.taken += count
        link.consumed(count, of: number)
    }

    private mutating func accept(_ number: UInt32) {
        guard let channel = theirs[number], !channel.isAccepted else { return }
        theirs[number]?.isAccepted = true
        link.consumed(channel.cost)
    }

    private mutating func stop(_ number: UInt32, _ code: CloseCode) {
        theirs[number]?.wasStopped = true
        link.stop(number, code)
    }

    private mutating func done(_ number: UInt32, _ code: CloseCode) {
        // It means nothing for a stream.
        if let channel = theirs[number], channel.isFinished, channel.isResource {
            theirs[number]?.isDone = true
        }
        link.done(number, code)
    }

    mutating func finishEverything() { for number in ours.keys.sorted() { finish(number) } }

    mutating func takeEverything(at now: Moment) throws(BrokenPromise) {
        link.advance(to: now)
        for number in theirs.keys.sorted() {
            accept(number)
            take(.max, of: number)
            if let channel = theirs[number], channel.isFinished { done(number, .ok) }
        }
        for _ in link.takeMessages() {}
        try fill(65_536, at: now)
        try listen()
    }
}

// MARK: the wire

extension ChannelEnd {
    private mutating func fill(_ room: Int, at now: Moment) throws(BrokenPromise) {
        guard link.wantsToSend else { return }
        var buffer = ByteBuffer()
        _ = link.fill(&buffer, upTo: room, now: now)
        try promise(buffer.count <= room, "no more is written than fits")
        output += buffer.takeAll()
    }

    mutating func takeOutput(_ count: Int) -> [UInt8] {
        defer { output.removeFirst(min(count, output.count)) }
        return Array(output.prefix(count))
    }

    mutating func receive(_ bytes: [UInt8], from other: [UInt32: Own], at now: Moment) throws(BrokenPromise) {
        guard !bytes.isEmpty else { return }
        _ = link.receive(bytes.span, through: &decoder, at: now)
        for message in link.takeMessages() { link.consumed(message.cost) }
        try listen(to: other)
    }

    private mutating func listen(to other: [UInt32: Own] = [:]) throws(BrokenPromise) {
        try promise(link.end == nil, "two correct links report no violation: \(link.end as Any)")
        for event in link.takeChannelEvents() { try note(event, other) }
        while link.nextEvent() != nil {}
        let held = theirs.values.reduce(0) { $0 + ($1.wasStopped || $1.isDone ? 0 : $1.came - $1.taken) }
        try promise(link.heldBytes <= held, "no more is held than arrived and was not taken")
    }

    private mutating func note(_ event: ChannelEvent, _ other: [UInt32: Own]) throws(BrokenPromise) {
        switch event {
        case .opened(let number, let opening, let cost):
            try promise(theirs[number] == nil, "a channel opens once")
            theirs[number] = Peers(isResource: opening.kind == .resource, cost: cost)
        case .data(let number, let bytes):
            guard let channel = theirs[number] else {
                throw BrokenPromise(description: "bytes arrive after OPEN")
            }
            try promise(!channel.isFinished && channel.endings == 0, "bytes arrive before the end")
            for (index, byte) in bytes.enumerated() {
                try promise(
                    byte == OpenerModel.byte(channel.came + index, of: number), "bytes arrive in order")
            }
            theirs[number]?.came += bytes.count
            try promise(channel.came + bytes.count - channel.taken <= 500, "no more is held than the window")
        case .finished(let number, digest: _):
            theirs[number]?.endings += 1
            theirs[number]?.isFinished = true
            try promise(
                theirs[number]?.came == other[number]?.written || theirs[number]?.wasStopped == true,
                "FIN arrives after everything")
        case .aborted(let number, _):
            theirs[number]?.endings += 1
            theirs[number]?.wasStopped = true
        case .began, .wrote: break
        case .begins, .resumes: throw BrokenPromise(description: "no resource here is resumable")
        case .ended(let number):
            try promise(ours[number]?.isFinWritten == false, "FIN is written once")
            ours[number]?.isFinWritten = true
            if ours[number]?.isResource == false { ours[number]?.endings += 1 }
        case .stopped(let number, _), .completed(let number, _): ours[number]?.endings += 1
        }
        let most = ours.values.map(\.endings).max() ?? 0
        try promise(most <= 1, "a local channel ends once")
    }

    var isSettled: Bool {
        output.isEmpty && !link.wantsToSend && link.heldBytes == 0
            && ours.values.allSatisfy { $0.endings == 1 || $0.wasReset }
    }

    func isOver() throws(BrokenPromise) {
        for (number, channel) in ours {
            try promise(channel.endings == 1 || channel.wasReset, "channel \(number) ends")
        }
        try promise(link.heldBytes == 0, "nothing is held at the end")
    }
}
