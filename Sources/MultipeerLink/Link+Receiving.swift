package import MultipeerCore
package import MultipeerFraming

// MARK: receiving

extension Link: FrameSink {
    /// Takes bytes from the connection, in any pieces, and returns how many it consumed: all, unless CLOSE or
    /// a frame of the verification code was among them. The caller passes the rest in another call, after
    /// taking the events. Bytes that are not a frame end the link like any other violation.
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

    /// Prepares for a batch of frames that is received at `now`.
    package mutating func begin(at now: Moment) {
        self.now = now
        liveness.heard(at: now)
    }

    package var frameLimit: Int { Limits.frame }  // [frame.limit]
    package var frameContext: FrameContext? { .open }  // [frame.order]

    /// False after the peer's CLOSE, and after a frame that the owner may refuse, until it has taken the events.
    package var wantsFrames: Bool { phase != .ended && !awaitsJudgement }  // [close.after]

    package mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        guard phase == .open else { return receiveInClosing(header, payload) }
        do throws(Violation) {
            switch header.kind {
            case .message: try message(payload)
            case .messagePart:
                try spend(payload.count)
                try assembler.part(payload)
            case .data:
                refill(payload.count)
                try incomingChannels.data(header.channel, payload)
            default: try control(header, payload)
            }
        } catch {
            violated(error)
        }
    }

    package mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8]) {
        guard phase == .open else { return receiveInClosing(header, payload.span) }
        do throws(Violation) {
            switch header.kind {
            case .message:
                try spend(payload.count)
                deliver(try assembler.finish(owning: payload))
            case .messagePart:
                try spend(payload.count)
                try assembler.part(owning: payload)
            case .data:
                refill(payload.count)
                try incomingChannels.data(header.channel, owning: payload)
            default: try control(header, payload.span)
            }
        } catch {
            violated(error)
        }
    }

    package mutating func storage(for header: FrameHeader) -> [UInt8] {
        guard phase == .open, header.kind == .message || header.kind == .messagePart else { return [] }
        return assembler.storage(for: header.length)
    }

    package mutating func receive(_ header: FrameHeader, stored bytes: consuming [UInt8], after start: Int) {
        guard phase == .open else {
            return receiveInClosing(header, bytes.span.extracting(start..<bytes.count))
        }
        do throws(Violation) {
            try spend(bytes.count - start)
            if header.kind == .message {
                deliver(try assembler.finish(stored: bytes, after: start))
            } else {
                try assembler.part(stored: bytes, after: start)
            }
        } catch {
            violated(error)
        }
    }

    /// Returns the complete messages received since the last call, in order. [msg.order]
    package mutating func takeMessages() -> IncomingBatch { incoming.takeAll() }

    /// The same if there is nothing else that the owner has to look at; nil otherwise.
    package mutating func takeOnlyMessages() -> IncomingBatch? {
        guard end == nil, events.isEmpty, !awaitsJudgement, !incomingChannels.hasEvents, !outgoing.hasEvents,
            !wantsTurn
        else { return nil }
        return incoming.takeAll()
    }

    package mutating func nextEvent() -> Event? {
        guard events.isEmpty else { return events.removeFirst() }
        awaitsJudgement = false
        return nil
    }

    /// Counts messages of this cost that the application has taken, for which the peer gets new credit.
    /// [msg.credit-return]
    package mutating func consumed(_ cost: Int) { receiveWindow.take(cost) }

    /// The cost of the complete messages that the application has not taken.
    package var untakenCost: Int { receiveWindow.untaken - assembler.cost }
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
        try receiveWindow.consume(cost)
        refill(cost)
    }

    /// Adds the tokens that traffic earns to the budgets of control frames, in either direction. [limit.control]
    @inline(__always)
    mutating func refill(_ cost: Int) {
        budget.refill(cost)
        control.refill(cost)
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
        guard try !isExempt(frame, payload: header.length) else { return }
        try consume()
        switch frame {
        case .ping(let token):
            liveness.pinged(isCrossing: control.awaitsPong)
            control.pinged(token)
            events.append(.pinged)
        case .credit(channel: 0, let limit): try sendWindow.raise(to: limit)
        case .credit(let channel, let limit): try outgoing.credited(channel, limit: limit)
        case .datagram(let offer): events.append(.datagramOffered(offer))
        case .codeRequest, .codeCommit, .codeNonce, .codeReveal, .codeResult:
            events.append(.code(frame))
            awaitsJudgement = true
        case .hello, .confirm, .select, .selected, .invite, .answer, .complete, .share, .confirmation:
            throw .outOfPlace(header.kind)  // [frame.order]
        case .members(let entry):
            guard isMesh else { throw .outOfPlace(header.kind) }  // [mesh.plain]
            events.append(.members(entry))
        case .pong, .message, .messagePart, .close, .ignorable: break
        case .open, .data, .fin, .reset, .stop, .done, .resume, .begin: break
        }
        if control.hasTooManyAnswers { throw .tooManyControlFrames }
    }

    /// Handles a PONG; a solicited one costs the peer nothing.
    private mutating func answered(_ token: UInt64) -> Bool {
        guard let (roundTrip, settled) = control.answered(token, at: now) else { return false }
        counted.add(roundTrip)
        events.append(.roundTrip(roundTrip))
        events.append(contentsOf: settled)
        return true
    }

    /// Handles a frame that opens or ends a channel, and returns whether it is exempt from the rate limit on
    /// control frames: what can happen once per channel is limited with the channels. For a closed channel it has
    /// no effect, and is not exempt. [channel.exempt]
    private mutating func isExempt(_ frame: Frame, payload: Int) throws(Violation) -> Bool {
        switch frame {
        case .open(let channel, let opening):
            try opened(channel, opening, payload: payload)
            return true
        case .fin(let channel, let digest):
            try incomingChannels.finished(channel, digest: digest)
            return true
        case .reset(let channel, let code): return try resetByPeer(channel, code)
        case .stop(let channel, let code): return try stoppedByPeer(channel, code)
        case .done(let channel, let code): return try outgoing.done(channel, code)
        case .resume(let channel, let offer): return try outgoing.resumed(channel, offer)
        case .begin(let channel, let offset):
            try incomingChannels.begins(channel, at: offset)
            return true
        default: return false
        }
    }

    private mutating func consume(_ frames: Int = 1) throws(Violation) {
        guard budget.consume(frames, at: now) else { throw .tooManyControlFrames }  // [limit.control]
    }

    /// Counts frames that the decoder has ignored; they are not exempt.
    private mutating func ignored(_ total: Int) {
        let new = total - counted.ignoredFrames
        guard new > 0, phase == .open else { return }
        counted.ignoredFrames = total
        if !budget.consume(new, at: now) { violated(.tooManyControlFrames) }
    }

    /// Ends the link for a violation that the owner found, such as an error of its own decoder.
    package mutating func violated(_ violation: Violation) { part(.violation(violation)) }

    private mutating func closedByPeer(_ code: CloseCode, _ reason: String) {
        end = .closedByPeer(code, reason: Self.presentable(reason))
        phase = .ended
    }

    /// Handles a frame while the link closes: only CLOSE matters.
    private mutating func receiveInClosing(_ header: FrameHeader, _ payload: Span<UInt8>) {
        if header.kind == .close { phase = .ended }
    }

    /// Returns the peer's text on one line, without characters that manipulate the display.
    private static func presentable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { DisplayName.isValid(String($0)) ? $0 : " " }))
    }
}
