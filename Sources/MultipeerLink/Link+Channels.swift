package import MultipeerFraming

// MARK: our own channels

extension Link {
    /// Queues OPEN and returns the channel's number. OPEN goes when the peer has a place and credit for it: `began`.
    package mutating func open(_ opening: ChannelOpening) -> UInt32 {
        if let number = outgoing.open(opening) { return number }
        // Four billion channels were opened: a new link has new numbers.
        part(.closed(.internal))
        return .max
    }

    /// Puts bytes after those that wait; the owner sees to it that they do not become too many.
    package mutating func write(_ bytes: consuming [UInt8], to channel: UInt32) {
        outgoing.write(bytes, to: channel)
    }

    /// FIN, after everything that waits: `ended`.
    package mutating func finish(_ channel: UInt32, digest: [UInt8]? = nil) {
        outgoing.finish(channel, digest: digest)
    }

    /// RESET, at once: what waits is dropped. A channel whose OPEN did not go leaves no trace.
    package mutating func reset(_ channel: UInt32, _ code: CloseCode) {
        if outgoing.reset(channel, at: now) { control.append(.reset(channel: channel, code)) }
    }
}

// MARK: the peer's channels

extension Link {
    /// The application has taken so many bytes: the peer may send them again.
    package mutating func consumed(_ count: Int, of channel: UInt32) {
        incomingChannels.consumed(count, of: channel)
    }

    /// STOP: what still comes is dropped, and nothing of the channel counts as held any more. A resource that is
    /// complete already gets DONE with the code.
    package mutating func stop(_ channel: UInt32, _ code: CloseCode) {
        if let frame = incomingChannels.stop(channel, code) { control.append(frame) }
    }

    /// DONE: what became of a resource, after `finished`. Nothing of it counts as held any more.
    package mutating func done(_ channel: UInt32, _ code: CloseCode) {
        if let frame = incomingChannels.done(channel, code) { control.append(frame) }
    }

    /// Bytes of channels that were received and not consumed.
    package var heldBytes: Int { incomingChannels.held }

    /// Stops the channel of which most is held, and returns which: the owner drops what it holds of it. [limit.memory]
    package mutating func stopFullest(_ code: CloseCode) -> UInt32? {
        guard let channel = incomingChannels.fullest else { return nil }
        stop(channel, code)
        return channel
    }
}

extension Link {
    /// What happened to channels since the last call, in order.
    package mutating func takeChannelEvents() -> [ChannelEvent] {
        let own = outgoing.takeEvents()
        let peers = incomingChannels.takeEvents()
        return own.isEmpty ? peers : peers.isEmpty ? own : own + peers
    }

    /// Queues a DGRAM or SAS frame of the owner; it goes with the control frames.
    package mutating func say(_ frame: Frame) { control.append(frame) }
}

// MARK: what the peer says

extension Link {
    mutating func opened(_ channel: UInt32, _ opening: ChannelOpening, payload: Int) throws(Violation) {
        // Entries that are ignored cost too: the peer counts what it sent.
        let cost = payload + Limits.channelOverhead
        try incomingChannels.check(opening: channel)
        try receiveWindow.consume(cost)  // [channel.cost]
        refill(cost)
        guard !incomingChannels.opened(channel, opening, cost: cost) else { return }
        receiveWindow.take(cost)
        control.append(.stop(channel: channel, .declined))  // [channel.kind]
    }

    /// RESET; false when the channel was closed already.
    mutating func resetByPeer(_ channel: UInt32, _ code: CloseCode) throws(Violation) -> Bool {
        // What the peer has not been told it cannot have answered, and need not be told any more.
        let isUnsaid = control.takeBackStop(of: channel)
        return try incomingChannels.reset(channel, code, isAnswer: !isUnsaid, at: now)
    }

    /// STOP; false when the channel was closed already. [channel.stop]
    mutating func stoppedByPeer(_ channel: UInt32, _ code: CloseCode) throws(Violation) -> Bool {
        switch try outgoing.stopped(channel, code) {
        case .answered:
            control.append(.reset(channel: channel, code))
            return true
        case .over: return true
        case .late: return false
        }
    }
}

// MARK: reassembly beyond the window

extension Link {
    /// Whether a message is being put together that may need more credit than the window, or has used it.
    package var wantsTurn: Bool {
        receiveWindow.isBeyondWindow || receiveWindow.mayNeedMore(for: assembler.cost)
    }

    /// Whether credit may go beyond the window for a message in reassembly. True unless the owner takes turns.
    package var hasTurn: Bool {  // [limit.turn]
        get { assembler.hasTurn }
        set { assembler.hasTurn = newValue }
    }

    /// What the one who gives the turns has to know.
    package var reassembly: ReassemblyTurns.Report {
        let isHeldUp = assembler.cost == 0 || receiveWindow.left < MessageCredit.cost(Limits.smallestPart)
        return ReassemblyTurns.Report(wants: wantsTurn, brought: receiveWindow.spent, isHeldUp: isHeldUp)
    }
}
