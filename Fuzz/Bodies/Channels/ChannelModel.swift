import MultipeerFraming

/// A model of the channels that a peer opens, as simple as chapter 9. It does not check budgets.
struct ChannelModel {
    struct Channel {
        enum State { case open, finished, stopped }

        let isResource: Bool
        let cost: Int
        var state = State.open
        var limit: Int
        var came = 0
        var taken = 0
    }

    enum Told: Equatable {
        case opened(UInt32, cost: Int)
        case data(UInt32, [UInt8])
        case finished(UInt32, digest: [UInt8]?)
        case aborted(UInt32, CloseCode)
    }

    private let limits: LinkLimits
    private(set) var channels: [UInt32: Channel] = [:]
    /// Closed streams of which the application has not taken everything.
    private(set) var unread: [UInt32: Int] = [:]
    private(set) var told: [Told] = []
    /// The frames that are to be sent, in any order.
    private(set) var due: [Frame] = []
    private var highest: UInt32 = 0
    private var emptyInARow = 0
    private var spent = 0
    private var taken = 0
    private var granted: Int

    init(_ limits: LinkLimits) {
        self.limits = limits
        granted = Int(limits.messageCredit)
    }

    /// Bytes that were received and not taken.
    var held: Int {
        channels.values.reduce(0) { $1.state == .stopped ? $0 : $0 + $1.came - $1.taken }
            + unread.values.reduce(0, +)
    }

    func unread(of number: UInt32) -> Int {
        guard let channel = channels[number] else { return unread[number] ?? 0 }
        return channel.state == .stopped ? 0 : channel.came - channel.taken
    }

    /// The numbers of all channels with unread data.
    var readable: [UInt32] { (Array(channels.keys) + unread.keys).filter { unread(of: $0) > 0 }.sorted() }

    mutating func takeTold() -> [Told] {
        defer { told = [] }
        return told
    }
}

// MARK: receiving

extension ChannelModel {
    /// Returns the code that the peer is sent, if it broke a rule.
    mutating func receive(_ frame: Frame) -> CloseCode? {
        switch frame {
        case .open(let number, let opening): open(number, opening)
        case .data(let number, let bytes): data(number, bytes)
        case .fin(let number, let digest): fin(number, digest)
        case .reset(let number, let code): reset(number, code)
        default: nil
        }
    }

    private mutating func open(_ number: UInt32, _ opening: ChannelOpening) -> CloseCode? {
        let cost = opening.name.utf8.count + 9 + Limits.channelOverhead
        if number <= highest { return .protocolError }
        if channels.count >= limits.maxChannels || spent + cost > granted { return .flow }
        highest = number
        spent += cost
        var channel = Channel(
            isResource: opening.kind == .resource, cost: cost, limit: Int(limits.channelCredit))
        if opening.kind == .stream || channel.isResource {
            told.append(.opened(number, cost: cost))
        } else {
            channel.state = .stopped
            taken += cost
            due.append(.stop(channel: number, .declined))
        }
        channels[number] = channel
        return nil
    }

    private mutating func data(_ number: UInt32, _ bytes: [UInt8]) -> CloseCode? {
        guard var channel = channels[number], channel.state != .finished else { return .protocolError }
        emptyInARow = bytes.isEmpty ? emptyInARow + 1 : 0
        if emptyInARow > 8 { return .flood }
        channel.came += bytes.count
        if channel.came > channel.limit { return .flow }
        channels[number] = channel
        if channel.state == .open, !bytes.isEmpty { told.append(.data(number, bytes)) }
        return nil
    }

    private mutating func fin(_ number: UInt32, _ digest: [UInt8]?) -> CloseCode? {
        guard let channel = channels[number], channel.state != .finished else { return .protocolError }
        if channel.state == .open { told.append(.finished(number, digest: digest)) }
        if channel.state == .open, channel.isResource {
            channels[number]?.state = .finished
        } else {
            if channel.state == .open { unread[number] = channel.came - channel.taken }
            channels[number] = nil
        }
        return nil
    }

    private mutating func reset(_ number: UInt32, _ code: CloseCode) -> CloseCode? {
        guard number <= highest else { return .protocolError }
        guard let channel = channels.removeValue(forKey: number) else { return nil }
        if channel.state != .stopped { told.append(.aborted(number, code)) }
        // A STOP or DONE that was not sent yet may be sent or not: the peer does not wait for it any more.
        return nil
    }
}

// MARK: what the application does

extension ChannelModel {
    mutating func accept(_ cost: Int) { taken += cost }

    mutating func take(_ count: Int, of number: UInt32) {
        channels[number]?.taken += count
        if let left = unread[number] { unread[number] = left - count }
    }

    mutating func stop(_ number: UInt32, _ code: CloseCode) {
        unread[number] = nil
        switch channels[number]?.state {
        case .open:
            channels[number]?.state = .stopped
            due.append(.stop(channel: number, code))
        case .finished: done(number, code)
        case .stopped, nil: break
        }
    }

    mutating func done(_ number: UInt32, _ code: CloseCode) {
        guard case .finished = channels[number]?.state else { return }
        channels[number] = nil
        due.append(.done(channel: number, code))
    }
}

// MARK: sending

extension ChannelModel {
    /// Checks a STOP, DONE or CREDIT that was sent.
    mutating func wrote(_ frame: Frame) throws(BrokenPromise) {
        switch frame {
        case .credit(channel: 0, let limit):
            try promise(
                Int(limit) == taken + Int(limits.messageCredit), "the message credit matches what was taken")
            try promise(
                Int(limit) - granted >= max(1, Int(limits.messageCredit) / 4), "CREDIT grows by a quarter")
            granted = Int(limit)
        case .credit(let number, let limit):
            guard let channel = channels[number], channel.state == .open else {
                throw BrokenPromise(description: "CREDIT is for open channels")
            }
            try promise(
                Int(limit) == channel.taken + Int(limits.channelCredit),
                "a channel's credit matches what was taken")
            try promise(
                Int(limit) - channel.limit >= max(1, Int(limits.channelCredit) / 4),
                "CREDIT grows by a quarter")
            channels[number]?.limit = Int(limit)
        default:
            guard let place = due.firstIndex(of: frame) else {
                throw BrokenPromise(description: "\(frame) was not requested")
            }
            due.remove(at: place)
        }
    }

    /// Checks that nothing is left to send.
    func isSilent() throws(BrokenPromise) {
        // What a RESET made superfluous may be left out.
        let needed = due.filter { frame in
            if case .stop(let number, _) = frame { channels[number] != nil } else { true }
        }
        try promise(needed.isEmpty, "\(needed) is missing")
        try promise(
            taken + Int(limits.messageCredit) - granted < max(1, Int(limits.messageCredit) / 4),
            "CREDIT for messages is missing")
        for (number, channel) in channels where channel.state == .open {
            try promise(
                channel.taken + Int(limits.channelCredit) - channel.limit
                    < max(1, Int(limits.channelCredit) / 4),
                "CREDIT for channel \(number) is missing")
        }
    }
}
