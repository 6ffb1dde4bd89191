import MultipeerCore
import MultipeerFraming

/// The channels that the peer opens, and the bytes held of them. Spec 9.
struct IncomingChannels: Sendable {
    var channels: [UInt32: IncomingChannel] = [:]
    /// The last number that the peer used.
    private var last: UInt32 = 0
    /// The number of channels that the peer counts as open.
    private var openCount = 0
    /// The number of bytes received and neither taken nor dropped.
    private(set) var held = 0
    /// The bytes by which windows have grown beyond what they began with.
    private(set) var extraCredit = 0
    /// Channels for which CREDIT is due.
    private(set) var creditDue = ChannelQueue()
    private var emptyInARow = 0
    private var resets: TokenBucket
    private var events: [ChannelEvent] = []
    /// The number of times that events were taken.
    private var batch = 0

    private let places: Int
    private let credit: UInt32

    init(_ local: LinkLimits, now: Moment) {
        places = Int(clamping: local.maxChannels)
        credit = local.channelCredit
        resets = TokenBucket(capacity: Self.resetCapacity, every: Self.resetInterval, now: now)
    }

    /// The rate limit for RESETs that answer no STOP: the burst, and the interval for one more.
    /// [channel.reset-rate]
    static let resetCapacity = 200
    static let resetInterval = Duration.milliseconds(150)
    /// More consecutive empty DATA than this are a flood.
    private static let emptyLimit = 8

    var hasEvents: Bool { !events.isEmpty }

    mutating func takeEvents() -> [ChannelEvent] {
        guard !events.isEmpty else { return [] }
        var taken: [ChannelEvent] = []
        swap(&taken, &events)
        batch &+= 1
        return taken
    }
}

// MARK: frames of the peer

extension IncomingChannels {
    /// Throws unless OPEN may have this number now.
    func check(opening number: UInt32) throws(Violation) {
        guard number > last else { throw .channelOutOfTurn(number) }  // [channel.number]
        guard openCount < places else { throw .tooManyChannels(number) }  // [channel.limit]
    }

    /// Handles a checked OPEN; returns false for an unknown kind of channel, which is to be declined.
    /// [channel.kind]
    mutating func opened(_ number: UInt32, _ opening: ChannelOpening, cost: Int) -> Bool {
        last = number
        openCount += 1
        var channel = IncomingChannel(opening, credit: credit)
        let isKnown = opening.kind == .stream || opening.kind == .resource
        if !isKnown { channel.phase = .stopped }
        channels[number] = channel
        if isKnown { events.append(.opened(number, opening, cost: cost)) }
        return isKnown
    }

    /// Handles BEGIN. [resource.begin]
    mutating func begins(_ number: UInt32, at offset: UInt64) throws(Violation) {
        guard let place = try place(of: number, .begin) else { throw .channelNotOpen(.begin, number) }
        switch channels.values[place].phase {
        case .resuming(let offered):
            guard offset == 0 || offset == offered else { throw .badOffset(offset, number) }
            channels.values[place].phase = .open
            events.append(.begins(number, offset: offset))
        case .stopped: break
        case .offered, .open, .finished, .unread: throw .channelNotOpen(.begin, number)
        }
    }

    /// Handles DATA whose payload is lent.
    mutating func data(_ number: UInt32, _ payload: Span<UInt8>) throws(Violation) {
        guard let place = try admit(number, payload.count) else { return }
        if payload.count <= Self.smallPayload, append(payload, at: place) { return }
        deliver([UInt8](copying: payload), of: number, at: place)
    }

    /// Handles DATA whose payload is owned.
    mutating func data(_ number: UInt32, owning payload: consuming [UInt8]) throws(Violation) {
        guard payload.count > Self.smallPayload else { return try data(number, payload.span) }
        guard let place = try admit(number, payload.count) else { return }
        deliver(payload, of: number, at: place)
    }

    /// Handles FIN. [channel.fin]
    mutating func finished(_ number: UInt32, digest: [UInt8]?) throws(Violation) {
        guard let place = try place(of: number, .fin) else { throw .channelNotOpen(.fin, number) }
        switch channels.values[place].phase {
        case .open:
            if channels.values[place].kind == .resource {
                channels.values[place].phase = .finished
            } else {
                openCount -= 1
                channels.values[place].phase = .unread  // [stream.end]
            }
            forgetCredit(number, at: place)
            events.append(.finished(number, digest: digest))
            if !channels.values[place].isOpen, channels.values[place].receiveWindow.unread == 0 {
                channels[number] = nil
            }
        case .stopped: close(number)
        case .offered, .resuming, .finished, .unread: throw .channelNotOpen(.fin, number)  // [channel.closed]
        }
    }

    /// Handles RESET; returns false when the channel was already closed. `isAnswer`: our STOP was written before.
    mutating func reset(
        _ number: UInt32, _ code: CloseCode, isAnswer: Bool, at now: Moment
    ) throws(Violation) -> Bool {
        guard let place = try place(of: number, .reset), channels.values[place].isOpen else { return false }
        if case .stopped = channels.values[place].phase {
            if !isAnswer, !resets.consume(at: now) { throw .tooManyResets }  // [channel.reset-rate]
        } else {
            guard resets.consume(at: now) else { throw .tooManyResets }
            events.append(.aborted(number, code))
        }
        close(number)
        return true
    }
}

// MARK: calls of the owner

extension IncomingChannels {
    /// A window of which the application takes all within `pathTime` doubles, by at most `spare`. Returns whether a
    /// whole window was taken since the last time.
    mutating func consumed(
        _ count: Int, of number: UInt32, at now: Moment, pathTime: Duration = .zero, spare: Int = 0
    ) -> Bool {
        guard let place = channels.index(forKey: number) else { return false }
        switch channels.values[place].phase {
        case .stopped: return false
        case .offered, .resuming, .open, .finished, .unread: break
        }
        channels.values[place].receiveWindow.take(count)
        held -= count
        var isWindow = false
        switch channels.values[place].phase {
        case .open:
            if let time = channels.values[place].receiveWindow.timeOfWindow(at: now) {
                isWindow = true
                if time < pathTime { grow(at: place, upTo: spare) }
            }
            guard !channels.values[place].isCreditDue, channels.values[place].receiveWindow.due != nil else {
                return isWindow
            }
            channels.values[place].isCreditDue = true
            creditDue.append(number)
        case .unread where channels.values[place].receiveWindow.unread == 0: channels[number] = nil
        case .offered, .resuming, .stopped, .finished, .unread: break
        }
        return isWindow
    }

    private mutating func grow(at place: Place, upTo spare: Int) {
        let window = channels.values[place].receiveWindow.window
        let growth = min(window, spare, channels.values[place].longestWindow - window)
        guard growth > 0 else { return }
        channels.values[place].receiveWindow.grow(by: growth)
        extraCredit += growth
    }

    /// Offers to continue a resumable resource; returns the frame to send, if any. [resource.resumable]
    mutating func resume(_ number: UInt32, _ offer: ResumeOffer) -> Frame? {
        guard let place = channels.index(forKey: number), channels.values[place].phase == .offered else {
            return nil
        }
        channels.values[place].phase = .resuming(from: offer.offset)
        return .resume(channel: number, offer)
    }

    /// Stops a channel; returns the frame to send, if any.
    mutating func stop(_ number: UInt32, _ code: CloseCode) -> Frame? {
        guard let place = channels.index(forKey: number) else { return nil }
        switch channels.values[place].phase {
        case .offered, .resuming, .open:
            forgetCredit(number, at: place)
            giveUp(at: place)
            channels.values[place].phase = .stopped  // [channel.stop]
            return .stop(channel: number, code)
        case .finished: return done(number, code)
        case .unread: close(number)
        case .stopped: break
        }
        return nil
    }

    /// Ends a channel with DONE, which only a finished resource gets; returns the frame to send, if any.
    /// [resource.done]
    mutating func done(_ number: UInt32, _ code: CloseCode) -> Frame? {
        guard case .finished? = channels[number]?.phase else { return nil }
        close(number)
        return .done(channel: number, code)
    }

    /// The channel with the most held bytes.
    var fullest: UInt32? {
        var fullest: (number: UInt32, unread: Int)?
        for (number, channel) in channels {
            guard channel.phase != .stopped, channel.receiveWindow.unread > 0 else { continue }
            // Of two that are equal the newer one, so that the result does not depend on the order of a dictionary.
            let isFuller =
                fullest.map { (channel.receiveWindow.unread, number) > ($0.unread, $0.number) } ?? true
            if isFuller { fullest = (number, channel.receiveWindow.unread) }
        }
        return fullest?.number
    }

    /// Removes and returns the next CREDIT, as its channel's new limit.
    mutating func nextCredit() -> (number: UInt32, limit: UInt64)? {
        guard let number = creditDue.first, let place = channels.index(forKey: number),
            let limit = channels.values[place].receiveWindow.due
        else { return nil }
        creditDue.removeFirst()
        channels.values[place].isCreditDue = false
        channels.values[place].receiveWindow.announced(limit)
        return (number, limit)
    }
}

// MARK: held bytes

extension IncomingChannels {
    typealias Place = Dictionary<UInt32, IncomingChannel>.Index

    /// Counts a DATA; returns nil when it is to be dropped.
    private mutating func admit(_ number: UInt32, _ count: Int) throws(Violation) -> Place? {
        guard let place = try place(of: number, .data) else { throw .channelNotOpen(.data, number) }
        switch channels.values[place].phase {
        case .open, .stopped: break
        case .offered, .resuming, .finished, .unread:  // [channel.closed]
            throw .channelNotOpen(.data, number)
        }
        emptyInARow = count == 0 ? emptyInARow + 1 : 0
        guard emptyInARow <= Self.emptyLimit else { throw .tooManyEmptyFrames }  // [limit.empty]
        guard channels.values[place].receiveWindow.receive(count) else { throw .beyondChannelCredit(number) }
        guard count > 0, channels.values[place].phase == .open else { return nil }  // [channel.late]
        held += count
        return place
    }

    /// Returns nil for a closed channel.
    private func place(of number: UInt32, _ kind: FrameKind) throws(Violation) -> Place? {
        guard number <= last else { throw .channelNotOpen(kind, number) }  // [channel.closed]
        return channels.index(forKey: number)
    }

    private mutating func deliver(_ bytes: consuming [UInt8], of number: UInt32, at place: Place) {
        channels.values[place].lastData = events.count
        channels.values[place].batch = batch
        events.append(.data(number, bytes))
    }

    /// Appends a small payload to the previous one: an array for each would take many times the memory of its
    /// contents. Returns false when there is none in this batch, or it is long enough.
    private mutating func append(_ payload: Span<UInt8>, at place: Place) -> Bool {
        guard channels.values[place].batch == batch else { return false }
        let index = channels.values[place].lastData
        guard case .data(let number, var bytes) = events[index] else { return false }
        guard bytes.count + payload.count <= Limits.channelPiece else { return false }
        events[index] = .data(number, [])
        bytes.append(copying: payload)
        events[index] = .data(number, bytes)
        return true
    }

    /// Payloads up to this size share an array.
    private static let smallPayload = 4_096

    private mutating func close(_ number: UInt32) {
        guard let place = channels.index(forKey: number) else { return }
        forgetCredit(number, at: place)
        giveUp(at: place)
        if channels.values[place].isOpen { openCount -= 1 }
        channels[number] = nil
    }

    /// Discards what is held of a channel; the owner does the same.
    private mutating func giveUp(at place: Place) {
        let unread = channels.values[place].receiveWindow.unread
        guard channels.values[place].phase != .stopped else { return }
        held -= unread
    }

    private mutating func forgetCredit(_ number: UInt32, at place: Place) {
        extraCredit -= channels.values[place].receiveWindow.shrink()
        guard channels.values[place].isCreditDue else { return }
        channels.values[place].isCreditDue = false
        creditDue.remove(number)
    }
}
