import MultipeerCore
import MultipeerFraming

/// The channels that this end opens: what waits for OPEN, what waits to be written, what waits for DONE. Spec 9.
///
/// Invariants: a channel is in `streams` or `resources` exactly once while it can write, and never otherwise; there
/// is a token of `resets` for every open channel, so a RESET never has to wait.
struct OutgoingChannels: Sendable {
    var channels: [UInt32: OutgoingChannel] = [:]
    /// Channels whose OPEN is not written yet, in the order of their numbers; the first is never a cancelled one.
    var waiting = ChannelQueue()
    /// Channels that can write now.
    private var streams = ChannelQueue()
    private var resources = ChannelQueue()
    /// The last number that was assigned.
    private var last: UInt32 = 0
    /// The last number that the peer knows.
    var lastWritten: UInt32 = 0
    /// The number of channels that the peer counts as open.
    var openCount = 0
    var events: [ChannelEvent] = []
    var resets: TokenBucket

    let places: Int
    private let credit: UInt32
    /// The peer's initial credit for messages, which OPEN consumes too.
    let messageWindow: Int

    init(_ remote: LinkLimits, now: Moment) {
        places = Int(clamping: remote.maxChannels)
        credit = remote.channelCredit
        messageWindow = Int(clamping: remote.messageCredit)
        resets = TokenBucket(capacity: Self.resetCapacity, every: Self.resetInterval, now: now)
    }

    /// Our own rate limit for RESET: below what the peer allows.
    private static let resetCapacity = 150
    static let resetInterval = Duration.milliseconds(200)

    /// Whether no channel can write DATA or FIN.
    var isIdle: Bool { streams.isEmpty && resources.isEmpty }

    func isReady(_ share: DeficitRoundRobin.TrafficClass) -> Bool {
        switch share {
        case .messages: false
        case .streams: !streams.isEmpty
        case .resources: !resources.isEmpty
        }
    }

    var hasEvents: Bool { !events.isEmpty }

    mutating func takeEvents() -> [ChannelEvent] {
        var taken: [ChannelEvent] = []
        swap(&taken, &events)
        return taken
    }
}

// MARK: calls of the owner

extension OutgoingChannels {
    /// Opens a channel; returns nil when all numbers are used up.
    mutating func open(_ opening: ChannelOpening) -> UInt32? {
        guard last < .max else { return nil }
        last += 1  // [channel.number]
        channels[last] = OutgoingChannel(opening, credit: credit)
        waiting.append(last)
        return last
    }

    mutating func write(_ bytes: consuming [UInt8], to number: UInt32) {
        guard let place = channels.index(forKey: number), channels.values[place].takesMore else { return }
        if bytes.isEmpty, channels.values[place].pieces.isEmpty {
            return events.append(.wrote(number, pieces: 1, bytes: 0))
        }
        channels.values[place].pieces.append(bytes)
        queue(number, at: place)
    }

    mutating func finish(_ number: UInt32, digest: [UInt8]?) {
        guard let place = channels.index(forKey: number), channels.values[place].takesMore else { return }
        channels.values[place].ending = .due(digest: digest)
        queue(number, at: place)
    }

    /// Chooses where a resumable resource begins, after RESUME: at its offset, or at 0.
    mutating func begin(_ number: UInt32, at offset: UInt64) {
        guard let place = channels.index(forKey: number),
            case .resuming(let offer, from: nil) = channels.values[place].phase
        else { return }
        precondition(offset == 0 || offset == offer.offset, "BEGIN repeats the offset of RESUME, or is 0")
        channels.values[place].phase = .resuming(offer, from: offset)
        queue(number, at: place)
    }

    /// Resets a channel; returns whether RESET is to be written.
    mutating func reset(_ number: UInt32, at now: Moment) -> Bool {
        guard let channel = channels[number] else { return false }
        if case .waiting = channel.phase {
            channels[number] = nil
            dropGivenUp()
            return false
        }
        _ = resets.consume(at: now)
        close(number)
        return true
    }
}

// MARK: frames of the peer

extension OutgoingChannels {
    /// Handles STOP. [channel.stop]
    mutating func stopped(_ number: UInt32, _ code: CloseCode) throws(Violation) -> Stopped {
        guard let channel = try known(number, .stop) else { return .late }
        close(number)
        events.append(.stopped(number, code))
        if case .finished = channel.phase { return .over }
        return .answered
    }

    enum Stopped {
        /// RESET is the answer.
        case answered
        /// FIN was sent before: no answer is needed.
        case over
        /// The channel was already closed.
        case late
    }

    /// Handles CREDIT of a channel.
    mutating func credited(_ number: UInt32, limit: UInt64) throws(Violation) {
        guard try known(number, .credit) != nil, let place = channels.index(forKey: number) else { return }
        try channels.values[place].sendWindow.raise(to: limit)
        queue(number, at: place)
    }

    /// Handles RESUME; returns false when the channel was already closed. [resource.resumable]
    mutating func resumed(_ number: UInt32, _ offer: ResumeOffer) throws(Violation) -> Bool {
        guard try known(number, .resume) != nil, let place = channels.index(forKey: number) else {
            return false
        }
        guard case .offered = channels.values[place].phase else { throw .channelNotOpen(.resume, number) }
        guard offer.offset <= channels.values[place].size else { throw .badOffset(offer.offset, number) }
        channels.values[place].phase = .resuming(offer, from: nil)
        events.append(.resumes(number, offer))
        return true
    }

    /// Handles DONE; returns false when the channel was already closed.
    mutating func done(_ number: UInt32, _ code: CloseCode) throws(Violation) -> Bool {
        guard let channel = try known(number, .done) else { return false }
        guard case .finished = channel.phase else { throw .doneTooEarly(number) }  // [resource.done]
        close(number)
        events.append(.completed(number, code))
        return true
    }

    /// Returns nil for a channel that is closed, or was cancelled before OPEN.
    private func known(_ number: UInt32, _ kind: FrameKind) throws(Violation) -> OutgoingChannel? {
        guard number <= lastWritten else { throw .channelNotOpen(kind, number) }  // [channel.closed]
        return channels[number]
    }
}

// MARK: places and turns

extension OutgoingChannels {
    /// Forgets an open channel, and frees its place.
    mutating func close(_ number: UInt32) {
        guard let channel = channels.removeValue(forKey: number) else { return }
        openCount -= 1
        guard channel.isQueued else { return }
        if channel.kind == .stream { streams.remove(number) } else { resources.remove(number) }
    }

    /// Queues a channel for its turn, if it can write and is not already queued.
    mutating func queue(_ number: UInt32, at place: Dictionary<UInt32, OutgoingChannel>.Index) {
        guard !channels.values[place].isQueued, channels.values[place].isReady else { return }
        channels.values[place].isQueued = true
        if channels.values[place].kind == .stream { streams.append(number) } else { resources.append(number) }
    }

    /// Returns the channel whose turn it is in a class.
    func first(of share: DeficitRoundRobin.TrafficClass) -> UInt32? {
        share == .streams ? streams.first : resources.first
    }

    /// Removes the channel that has had its turn.
    mutating func removeFirst(
        of share: DeficitRoundRobin.TrafficClass, at place: Dictionary<UInt32, OutgoingChannel>.Index
    ) {
        channels.values[place].isQueued = false
        if share == .streams { streams.removeFirst() } else { resources.removeFirst() }
    }

    mutating func dropGivenUp() {
        while let number = waiting.first, channels[number] == nil { waiting.removeFirst() }
    }
}
