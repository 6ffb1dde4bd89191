import MultipeerCore
import MultipeerFraming

// MARK: OPEN

extension OutgoingChannels {
    /// Returns the message credit that OPEN consumes. [channel.cost]
    static func cost(_ opening: ChannelOpening) -> Int { opening.byteCount + Limits.channelOverhead }

    /// Returns whether the peer's limit allows another channel, and a RESET is available for it.
    func hasPlace(at now: Moment) -> Bool {
        // [channel.limit] [channel.reset-rate]
        !waiting.isEmpty && openCount < places && resets.available(at: now) > openCount
    }

    /// Returns whether the next OPEN waits only for time.
    func waitsForPace(at now: Moment) -> Bool {
        !waiting.isEmpty && openCount < places && resets.available(at: now) <= openCount
    }

    /// Returns whether OPEN could be sent with `left` of credit.
    func canOpen(spending left: Int, at now: Moment) -> Bool {
        hasPlace(at: now) && nextCost.map { $0 <= left } ?? false
    }

    /// Returns whether messages must not use the credit until there is enough for the next OPEN: otherwise they could
    /// starve it. Credit comes in quarters of the window, so enough does come.
    @inline(__always)
    func isShort(of left: Int, at now: Moment) -> Bool {
        guard !waiting.isEmpty, let cost = nextCost, cost > left, hasPlace(at: now) else { return false }
        return cost <= messageWindow / 4 * 3
    }

    /// Writes as many OPENs as the channel limit, the credit and the room allow; returns the credit that they
    /// consumed.
    mutating func writeOpenings(
        into output: inout ByteBuffer, upTo end: Int, spending credit: Int, at now: Moment
    ) -> Int {
        var left = credit
        while canOpen(spending: left, at: now), let number = waiting.first, let opening = nextOpening {
            guard output.count + FrameHeader.byteCount + opening.byteCount <= end else { break }
            Frame.open(channel: number, opening).encode(into: &output)
            left -= Self.cost(opening)
            waiting.removeFirst()
            began(number, opening)
            dropGivenUp()
        }
        return credit - left
    }

    private mutating func began(_ number: UInt32, _ opening: ChannelOpening) {
        lastWritten = number
        openCount += 1
        events.append(.began(number))
        guard let place = channels.index(forKey: number) else { return }
        channels.values[place].phase = opening.isResumable ? .offered : .open
        queue(number, at: place)
    }

    private var nextOpening: ChannelOpening? {
        guard let number = waiting.first, case .waiting(let opening) = channels[number]?.phase else {
            return nil
        }
        return opening
    }

    private var nextCost: Int? { nextOpening.map(Self.cost) }
}

// MARK: BEGIN, DATA and FIN

extension OutgoingChannels {
    /// A frame that was written: its size, that of its DATA payload, and what of that is lent and not in the output.
    struct Turn {
        var size = 0
        var payload = 0
        var lent: LentPayload?
    }

    /// Writes one frame of the channel of that class whose turn it is; its size is 0 when there is no room. A DATA is
    /// shortened to the room only when `mayCut`. One that is lent may be as long as a frame.
    mutating func writeTurn(
        of share: DeficitRoundRobin.TrafficClass, into output: inout ByteBuffer, upTo room: Int, mayCut: Bool,
        lending isLending: Bool = false
    ) -> Turn {
        guard let number = first(of: share), let place = channels.index(forKey: number) else { return Turn() }
        if case .resuming(_, from: let offset?) = channels.values[place].phase {
            return Turn(size: writeBegin(number, at: place, offset, of: share, into: &output, upTo: room))
        }
        if isLending, let count = channels.values[place].nextLoan, FrameHeader.byteCount + count <= room {
            removeFirst(of: share, at: place)
            let payload = lendData(number, at: place, count, into: &output)
            queue(number, at: place)
            return Turn(size: FrameHeader.byteCount + count, payload: count, lent: payload)
        }
        let payload = channels.values[place].nextPayload
        guard payload > 0 else {
            return Turn(size: writeFin(number, at: place, of: share, into: &output, upTo: room))
        }
        var count = payload
        if FrameHeader.byteCount + payload > room {
            count = room - FrameHeader.byteCount
            guard mayCut, count > 0 else { return Turn() }
        }
        removeFirst(of: share, at: place)
        writeData(number, at: place, count, into: &output)
        queue(number, at: place)
        return Turn(size: FrameHeader.byteCount + count, payload: count)
    }

    private mutating func writeData(
        _ number: UInt32, at place: Dictionary<UInt32, OutgoingChannel>.Index, _ count: Int,
        into output: inout ByteBuffer
    ) {
        output.reserve(FrameHeader.byteCount + count)
        output.appendHeader(FrameHeader(.data, channel: number, length: count))
        channels.values[place].sendWindow.spend(count)  // [channel.credit-limit]
        wrote(number, pieces: channels.values[place].pieces.write(count, into: &output), bytes: count)
    }

    private mutating func lendData(
        _ number: UInt32, at place: Dictionary<UInt32, OutgoingChannel>.Index, _ count: Int,
        into output: inout ByteBuffer
    ) -> LentPayload {
        output.appendHeader(FrameHeader(.data, channel: number, length: count))
        channels.values[place].sendWindow.spend(count)  // [channel.credit-limit]
        let (payload, done) = channels.values[place].pieces.lend(count, into: &output)
        wrote(number, pieces: done, bytes: count)
        return payload
    }

    private mutating func wrote(_ number: UInt32, pieces done: Int, bytes count: Int) {
        if case .wrote(number, let pieces, let bytes)? = events.last {
            events[events.count - 1] = .wrote(number, pieces: pieces + done, bytes: bytes + count)
        } else {
            events.append(.wrote(number, pieces: done, bytes: count))
        }
    }

    private mutating func writeBegin(
        _ number: UInt32, at place: Dictionary<UInt32, OutgoingChannel>.Index, _ offset: UInt64,
        of share: DeficitRoundRobin.TrafficClass, into output: inout ByteBuffer, upTo room: Int
    ) -> Int {
        let size = FrameHeader.byteCount + 8
        guard room >= size else { return 0 }
        Frame.begin(channel: number, offset: offset).encode(into: &output)  // [resource.begin]
        removeFirst(of: share, at: place)
        channels.values[place].phase = .open
        queue(number, at: place)
        return size
    }

    private mutating func writeFin(
        _ number: UInt32, at place: Dictionary<UInt32, OutgoingChannel>.Index,
        of share: DeficitRoundRobin.TrafficClass,
        into output: inout ByteBuffer, upTo room: Int
    ) -> Int {
        guard room >= Self.longestFin, case .due(let digest) = channels.values[place].ending else { return 0 }
        let start = output.count
        Frame.fin(channel: number, sha256: digest).encode(into: &output)  // [stream.end]
        events.append(.ended(number))
        if channels.values[place].kind == .stream {
            close(number)
        } else {
            removeFirst(of: share, at: place)
            channels.values[place].phase = .finished
        }
        return output.count - start
    }

    /// A header, a field header and a SHA-256.
    private static let longestFin = FrameHeader.byteCount + 4 + 32
}
