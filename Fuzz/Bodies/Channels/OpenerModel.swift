import MultipeerFraming
import MultipeerLink

/// A model of the channels that this end opens, as its peer sees them: what may be written, and how the peer may
/// answer.
struct OpenerModel {
    struct Channel {
        enum State { case waiting, open, finished, closed }

        let isResource: Bool
        var state = State.waiting
        var limit: UInt64
        /// The number of bytes that the application wrote, and of those that were sent. The content is a running count.
        var queued = 0
        var sent = 0
        var isEnding = false
        /// The number of bytes that `wrote` reported.
        var told = 0
        /// RESETs that may still be sent.
        var resets: [CloseCode] = []
    }

    private let limits: LinkLimits
    private(set) var channels: [UInt32: Channel] = [:]
    private var spent = 0
    private var granted: UInt64
    private var lastOpened: UInt32 = 0
    /// The events that the application should receive, besides bytes.
    private var told: [ChannelEvent] = []

    init(_ limits: LinkLimits) {
        self.limits = limits
        granted = UInt64(limits.messageCredit)
    }

    /// Returns the `index`th byte of a channel.
    static func byte(_ index: Int, of number: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: index &* 7 &+ Int(number))
    }
}

// MARK: what the application does

extension OpenerModel {
    mutating func open(_ number: UInt32, isResource: Bool) throws(BrokenPromise) {
        try promise(channels[number] == nil, "a channel number is used once")
        channels[number] = Channel(isResource: isResource, limit: UInt64(limits.channelCredit))
    }

    /// Returns the bytes to write.
    mutating func write(_ count: Int, to number: UInt32) -> [UInt8] {
        guard let channel = channels[number] else { return [] }
        let bytes = (0..<count).map { Self.byte(channel.queued + $0, of: number) }
        if !channel.isEnding, channel.state != .closed { channels[number]?.queued += count }
        return bytes
    }

    mutating func finish(_ number: UInt32) { channels[number]?.isEnding = true }

    mutating func reset(_ number: UInt32, _ code: CloseCode) {
        guard let channel = channels[number], channel.state != .closed else { return }
        if channel.state != .waiting { channels[number]?.resets.append(code) }
        channels[number]?.state = .closed
    }
}

// MARK: what comes

extension OpenerModel {
    /// Returns the code that the peer is sent, if it broke a rule.
    mutating func receive(_ frame: Frame) -> CloseCode? {
        switch frame {
        case .credit(channel: 0, let limit):
            if limit <= granted { return .protocolError }
            granted = limit
        case .credit(let number, let limit):
            guard number <= lastOpened else { return .protocolError }
            guard let channel = channels[number], channel.state == .open || channel.state == .finished else {
                break
            }
            if limit <= channel.limit { return .protocolError }
            channels[number]?.limit = limit
        case .stop(let number, let code):
            guard number <= lastOpened else { return .protocolError }
            guard let channel = channels[number], channel.state == .open || channel.state == .finished else {
                break
            }
            if channel.state == .open { channels[number]?.resets.append(code) }
            channels[number]?.state = .closed
            told.append(.stopped(number, code))
        case .done(let number, let code):
            guard number <= lastOpened else { return .protocolError }
            guard let channel = channels[number], channel.state != .closed else { break }
            if channel.state != .finished { return .protocolError }
            channels[number]?.state = .closed
            told.append(.completed(number, code))
        default: break
        }
        return nil
    }
}

// MARK: sending

extension OpenerModel {
    mutating func wrote(_ frame: Frame) throws(BrokenPromise) {
        switch frame {
        case .open(let number, let opening):
            try promise(
                channels[number]?.state == .waiting, "OPEN is sent once, and not for a cancelled channel")
            try promise(number > lastOpened, "channel numbers increase")
            let open = channels.values.filter {
                $0.state == .open || $0.state == .finished || !$0.resets.isEmpty
            }
            try promise(open.count < limits.maxChannels, "no more channels are open than the peer allows")
            spent += opening.name.utf8.count + 9 + Limits.channelOverhead
            try promise(UInt64(spent) <= granted, "OPEN stays within the message credit")
            lastOpened = number
            channels[number]?.state = .open
            told.append(.began(number))
        case .data(let number, let bytes):
            guard let channel = channels[number], channel.state == .open else {
                throw BrokenPromise(description: "DATA is sent on open channels")
            }
            try promise(!bytes.isEmpty && bytes.count <= Limits.channelPiece, "DATA has a useful size")
            try promise(UInt64(channel.sent + bytes.count) <= channel.limit, "DATA stays within the credit")
            try promise(channel.sent + bytes.count <= channel.queued, "only written bytes are sent")
            for (index, byte) in bytes.enumerated() where byte != Self.byte(channel.sent + index, of: number)
            {
                throw BrokenPromise(description: "bytes stay in order")
            }
            channels[number]?.sent += bytes.count
        case .fin(let number, _):
            guard let channel = channels[number], channel.state == .open, channel.isEnding else {
                throw BrokenPromise(description: "FIN is sent once, when it is requested")
            }
            try promise(channel.sent == channel.queued, "FIN is sent after all bytes")
            channels[number]?.state = channel.isResource ? .finished : .closed
            told.append(.ended(number))
        case .reset(let number, let code):
            guard let place = channels[number]?.resets.firstIndex(of: code) else {
                throw BrokenPromise(description: "RESET is sent once, with its code")
            }
            channels[number]?.resets.remove(at: place)
        default: break
        }
    }

    /// Checks the events that the application received since the last call.
    mutating func heard(_ events: [ChannelEvent]) throws(BrokenPromise) {
        var rest: [ChannelEvent] = []
        for event in events {
            switch event {
            case .wrote(let number, pieces: _, let bytes): channels[number]?.told += bytes
            case .began, .ended, .stopped, .completed: rest.append(event)
            default: break
            }
        }
        let key: (ChannelEvent) -> String = { "\($0)" }
        try promise(rest.map(key).sorted() == told.map(key).sorted(), "\(rest) is reported, not \(told)")
        told = []
        for (number, channel) in channels where channel.state != .closed {
            try promise(channel.told == channel.sent, "channel \(number): written bytes are reported")
        }
    }

    /// Checks that nothing is left to write.
    func isSilent() throws(BrokenPromise) {
        for (number, channel) in channels {
            try promise(channel.resets.isEmpty, "RESET of channel \(number) is missing")
            guard channel.state == .open else { continue }
            let waits = channel.sent < channel.queued
            try promise(
                !waits || UInt64(channel.sent) == channel.limit, "bytes of channel \(number) are missing")
            try promise(waits || !channel.isEnding, "FIN of channel \(number) is missing")
        }
    }
}
