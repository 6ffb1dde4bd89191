package import MultipeerFraming

// MARK: our own channels

extension Link {
    /// Queues OPEN and returns the channel's number. OPEN is written when the peer's channel limit and credit allow
    /// it: `began`.
    package mutating func open(_ opening: ChannelOpening) -> UInt32 {
        if let number = outgoing.open(opening) { return number }
        // Four billion channels were opened; only a new link has new numbers.
        part(.closed(.internal))
        return .max
    }

    /// Queues bytes to be written; the owner must limit how many wait.
    package mutating func write(_ bytes: consuming [UInt8], to channel: UInt32) {
        outgoing.write(bytes, to: channel)
    }

    /// Sends BEGIN, before everything that waits: the answer to `resumes`, with its offset or 0.
    package mutating func begin(_ channel: UInt32, at offset: UInt64) { outgoing.begin(channel, at: offset) }

    /// Sends FIN after everything that waits: `ended`.
    package mutating func finish(_ channel: UInt32, digest: [UInt8]? = nil) {
        outgoing.finish(channel, digest: digest)
    }

    /// Sends RESET at once: what waits is dropped. A channel whose OPEN was not written sends nothing.
    package mutating func reset(_ channel: UInt32, _ code: CloseCode) {
        if outgoing.reset(channel, at: now) { control.append(.reset(channel: channel, code)) }
    }

    /// Drops what waits without RESET: the channel fails at the peer when the link ends. Only before a graceful close.
    package mutating func drop(_ channel: UInt32) { _ = outgoing.reset(channel, at: now) }
}

// MARK: the peer's channels

extension Link {
    /// Counts bytes that the application has taken, for which the peer gets new credit.
    ///
    /// Its window grows, by at most `spare` bytes, while that would let more bytes arrive: while the application takes a whole
    /// window in less than two round trips.
    package mutating func consumed(_ count: Int, of channel: UInt32, spare: Int = 0) {
        let roundTrip = counted.roundTrip?.shortest ?? .zero
        let isWindow = incomingChannels.consumed(
            count, of: channel, at: now, pathTime: (roundTrip + Self.handOver) * 2, spare: spare)
        guard isWindow, counted.roundTrip == nil, !hasMeasuredPath else { return }
        hasMeasuredPath = true
        control.ask()
    }

    /// The time that bytes spend on their way between threads.
    private static let handOver = Duration.milliseconds(1)

    /// Sends RESUME, which a resumable resource waits for: `begins`.
    package mutating func resume(_ channel: UInt32, _ offer: ResumeOffer) {
        if let frame = incomingChannels.resume(channel, offer) { control.append(frame) }
    }

    /// Sends STOP: later data is dropped, and the channel's bytes no longer count as held. A resource
    /// that is already complete gets DONE with the code.
    package mutating func stop(_ channel: UInt32, _ code: CloseCode) {
        if let frame = incomingChannels.stop(channel, code) { control.append(frame) }
    }

    /// Sends DONE with the result of a resource, after `finished`. Its bytes no longer count as held.
    package mutating func done(_ channel: UInt32, _ code: CloseCode) {
        if let frame = incomingChannels.done(channel, code) { control.append(frame) }
    }

    /// The number of channel bytes received and not consumed.
    package var heldBytes: Int { incomingChannels.held }

    /// The bytes by which windows of channels have grown.
    package var extraCredit: Int { incomingChannels.extraCredit }

    /// Stops the channel with the most held bytes and returns it: the owner drops what it holds of it. [limit.memory]
    package mutating func stopFullest(_ code: CloseCode) -> UInt32? {
        guard let channel = incomingChannels.fullest else { return nil }
        stop(channel, code)
        return channel
    }
}

extension Link {
    /// Returns the channel events since the last call, in order.
    package mutating func takeChannelEvents() -> [ChannelEvent] {
        let own = outgoing.takeEvents()
        let peers = incomingChannels.takeEvents()
        return own.isEmpty ? peers : peers.isEmpty ? own : own + peers
    }

    /// Queues a DGRAM or SAS frame of the owner, to be sent with the control frames.
    package mutating func say(_ frame: Frame) { control.append(frame) }
}

// MARK: frames of the peer

extension Link {
    mutating func opened(_ channel: UInt32, _ opening: ChannelOpening, payload: Int) throws(Violation) {
        // Ignored entries consume credit too: the peer counts what it sent.
        let cost = payload + Limits.channelOverhead
        try incomingChannels.check(opening: channel)
        try receiveWindow.consume(cost)  // [channel.cost]
        refill(cost)
        guard !incomingChannels.opened(channel, opening, cost: cost) else { return }
        receiveWindow.take(cost)
        control.append(.stop(channel: channel, .declined))  // [channel.kind]
    }

    /// Handles RESET; returns false when the channel was already closed.
    mutating func resetByPeer(_ channel: UInt32, _ code: CloseCode) throws(Violation) -> Bool {
        // A STOP not yet written cannot have been answered, and no longer needs to be sent.
        let isUnsaid = control.takeBackStop(of: channel)
        return try incomingChannels.reset(channel, code, isAnswer: !isUnsaid, at: now)
    }

    /// Handles STOP; returns false when the channel was already closed. [channel.stop]
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
    /// Whether a message is being reassembled that may need more credit than the window, or has used it.
    package var wantsTurn: Bool {
        receiveWindow.isBeyondWindow || receiveWindow.mayNeedMore(for: assembler.cost)
    }

    /// Whether credit may exceed the window for a message in reassembly. Default: true; the owner may assign turns.
    package var hasTurn: Bool {  // [limit.reassembly]
        get { assembler.hasTurn }
        set { assembler.hasTurn = newValue }
    }

    /// The state that `ReassemblyTurns` needs.
    package var reassembly: ReassemblyTurns.Report {
        let isHeldUp = assembler.cost == 0 || receiveWindow.left < MessageCredit.cost(Limits.smallestPart)
        return ReassemblyTurns.Report(wants: wantsTurn, brought: receiveWindow.spent, isHeldUp: isHeldUp)
    }
}
