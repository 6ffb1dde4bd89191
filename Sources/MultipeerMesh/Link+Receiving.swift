package import MultipeerFraming
package import MultipeerIntroduction

// MARK: what comes from the peer

extension Link: FrameSink {
    /// Takes bytes from the connection, in any pieces, and answers how many it used: all, unless CLOSE was among them.
    /// What is not a frame ends the link like any other violation.
    package mutating func receive(
        _ bytes: Span<UInt8>, through decoder: inout FrameDecoder, at now: Moment
    ) -> Int {
        begin(at: now)
        let used: Int
        do throws(FramingError) {
            used = try decoder.decode(bytes, into: &self)
        } catch {
            violated(.framing(error))
            used = bytes.count
        }
        ignored(decoder.ignoredFrames)
        return used
    }

    /// Before each batch of frames: something came, at this moment.
    package mutating func begin(at now: Moment) {
        self.now = now
        liveness.heard(at: now)
    }

    package var frameLimit: Int { Limits.frame }  // [frame.limit]
    package var frameOrder: FrameOrder? { .open }  // [frame.order]

    /// False behind the peer's CLOSE. [close.after]
    package var wantsFrames: Bool { phase != .ended }

    package mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        guard phase == .open else { return receiveInClosing(header, payload) }
        do throws(Violation) {
            switch header.kind {
            case .message: try message(payload)
            case .messagePart:
                try spend(payload.count)
                try assembler.part(payload)
            case .data: try channels.data(header.channel, count: payload.count)
            default: try control(header, payload)
            }
        } catch {
            violated(error)
        }
    }

    package mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8]) {
        guard phase == .open, header.kind == .message || header.kind == .messagePart else {
            return receive(header, payload.span)
        }
        do throws(Violation) {
            try spend(payload.count)
            if header.kind == .message {
                deliver(try assembler.finish(owning: payload))
            } else {
                try assembler.part(owning: payload)
            }
        } catch {
            violated(error)
        }
    }

    /// The complete messages that came since the last call, in order. [msg.order]
    package mutating func takeMessages() -> [IncomingMessage] { incoming.takeAll() }

    package mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// The application has taken messages of this cost: the peer may spend it again. [msg.credit-return]
    package mutating func consumed(_ cost: Int) { grant.take(cost) }
}

extension Link {
    @inline(__always)
    private mutating func message(_ payload: Span<UInt8>) throws(Violation) {
        try spend(payload.count)
        guard assembler.isWhole, payload.count <= IncomingMessages.smallMessage else {
            return deliver(try assembler.finish(payload))
        }
        try assembler.check(payload.count)
        count(payload.count)
        incoming.append(small: payload, cost: MessageCredit.cost(payload.count))  // [msg.empty]
    }

    @inline(__always)
    private mutating func spend(_ count: Int) throws(Violation) {
        let cost = MessageCredit.cost(count)
        try grant.charge(cost)
        budget.earn(cost)
        pacing.earn(cost)
    }

    @inline(__always)
    private mutating func deliver(_ message: consuming IncomingMessage) {
        count(message.range.count)
        incoming.append(message)
    }

    @inline(__always)
    private mutating func count(_ bytes: Int) {
        counted.messagesReceived &+= 1
        counted.bytesReceived &+= bytes
    }

    private mutating func control(_ header: FrameHeader, _ payload: Span<UInt8>) throws(Violation) {
        let frame: Frame
        do throws(FramingError) {
            frame = try Frame(header, payload)  // [frame.payload]
        } catch {
            throw .framing(error)
        }
        if case .close(let code, let reason) = frame { return closedByPeer(code, reason) }
        if case .pong(let token) = frame, answered(token) { return }
        try charge()
        switch frame {
        case .ping(let token): pongs.append(token)
        case .pong: break
        case .credit(channel: 0, let limit): try purse.raise(to: limit)
        case .open(let channel, _): try channels.opened(channel)
        case .fin(let channel, _), .reset(let channel, _): try channels.finished(channel, header.kind)
        case .credit(let channel, _), .stop(let channel, _), .done(let channel, _):
            throw .channelNotOpen(header.kind, channel)
        case .datagram(let offer): events.append(.datagramOffered(offer))
        case .codeRequest, .codeCommit, .codeNonce, .codeReveal: events.append(.code(frame))
        case .members: break
        case .hello, .confirm, .select, .selected, .invite, .answer, .complete:
            throw .outOfPlace(header.kind)  // [frame.order]
        case .message, .messagePart, .data, .close, .ignorable: break
        }
        // Answers pile up only when the peer asks and does not read.
        guard pongs.count + channels.replies <= ControlBudget.capacity else { throw .tooManyControlFrames }
    }

    /// An answer that was asked for costs the peer nothing.
    private mutating func answered(_ token: UInt64) -> Bool {
        guard let (roundTrip, settled) = pings.answered(token, at: now) else { return false }
        if counted.roundTrip == nil {
            counted.roundTrip = .init(roundTrip)
        } else {
            counted.roundTrip?.add(roundTrip)
        }
        events.append(.roundTrip(roundTrip))
        events.append(contentsOf: settled)
        return true
    }

    private mutating func charge(_ frames: Int = 1) throws(Violation) {
        guard budget.charge(frames, at: now) else { throw .tooManyControlFrames }  // [limit.control]
    }

    /// The decoder skips what it may ignore, but it is not free.
    private mutating func ignored(_ total: Int) {
        let new = total - counted.ignoredFrames
        guard new > 0, phase == .open else { return }
        counted.ignoredFrames = total
        if !budget.charge(new, at: now) { violated(.tooManyControlFrames) }
    }

    /// Ends the link for something that the owner found, such as an error of a decoder of its own.
    package mutating func violated(_ violation: Violation) { part(.violation(violation)) }

    private mutating func closedByPeer(_ code: CloseCode, _ reason: String) {
        end = .closedByPeer(code, reason: Self.presentable(reason))
        phase = .ended
    }

    /// CLOSE is all that still matters.
    private mutating func receiveInClosing(_ header: FrameHeader, _ payload: Span<UInt8>) {
        if header.kind == .close { phase = .ended }
    }

    /// The peer's text on one line, without characters that play tricks on a screen.
    private static func presentable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { DisplayName.isValid(String($0)) ? $0 : " " }))
    }
}
