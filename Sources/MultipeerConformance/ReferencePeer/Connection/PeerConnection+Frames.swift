/// Frames of a connection, both ways, and its end.
extension PeerConnection {
    func read(_ bytes: [UInt8]) {
        incoming += bytes
        var place = 0
        while stage == .ready || (stage == .closing && bug == .deliversAfterClose),
            incoming.count - place >= Frame.headerCount
        {
            let header = FrameHeader(incoming[place..<(place + Frame.headerCount)])
            var isKnown = true
            attempt { () throws(ProtocolError) in isKnown = try owner?.admit(header, on: self) ?? false }
            let whole = Frame.headerCount + header.length
            guard incoming.count - place >= whole else { break }
            let start = place + Frame.headerCount
            place += whole
            guard isKnown, !isOver || bug == .deliversAfterClose else { continue }
            hasFrame = true
            let frame = Frame(header.kind, channel: header.channel, Array(incoming[start..<place]))
            attempt { () throws(ProtocolError) in try handle(frame) }
            if bug == .oneFramePerRead, incoming.count > place { place = incoming.count }
        }
        incoming.removeFirst(min(place, incoming.count))
        let isHalfHello = bug == .helloInOneRead && !hasFrame && !incoming.isEmpty
        if isHalfHello { refuse(.broken("half a frame")) }
    }

    func handle(_ frame: Frame) throws(ProtocolError) {
        guard frame.kind == .close else {
            try owner?.take(frame, from: self)
            return
        }
        if bug == .closeReasonUnchecked {
            try demand(frame.payload.count > 1, "CLOSE without a code")
        } else if bug != .payloadSizeUnchecked {
            try demand((2...258).contains(frame.payload.count), "CLOSE of \(frame.payload.count) bytes")
            try demand(Array(frame.payload.dropFirst(2)).isText, "a reason that is not text")
        }
        let isKnown = Int(frame.code?.rawValue ?? 0) < CloseCode.names.count
        try demand(bug != .refusesUnknownCode || isKnown, "an unknown code")
        let code = isKnown ? frame.code ?? .internal : .internal
        if bug == .answersClose { send(.close(code)) }
        if bug == .deliversAfterClose { return }
        finish(.closed(code))
    }

    func send(_ frame: Frame) {
        guard stage == .ready else { return }
        write(frame.bytes)
    }

    func write(_ bytes: [UInt8]) {
        if let tls {
            tls.write(bytes)
            outgoing += tls.drainOutput()
        } else {
            outgoing += bytes
        }
        flush()
    }

    func flush() {
        while unsent > 0, stage != .ended, stage != .dialling {
            guard let count = socket.send(outgoing[sent...]) else {
                // What has arrived before the reset is still read.
                outgoing = []
                sent = 0
                return
            }
            if count == 0 { break }
            sent += count
        }
        if sent == outgoing.count {
            outgoing = []
            sent = 0
            if stage == .closing, !hasShutDown {
                hasShutDown = true
                socket.shutdownWriting()
            }
        }
    }

    // MARK: The end

    /// Sends CLOSE, writes it out for a second at most, then ends the stream. Spec 14.3.
    func close(_ code: CloseCode, _ reason: String = "") {
        guard !isOver else { return }
        guard stage == .ready else { return discard() }
        if unsent < 1 << 22 { write(Frame.close(code, reason: String(reason.prefix(100))).bytes) }
        stage = .closing
        closeBy = .now + .seconds(1)
        if bug != .closesWithoutNotify { tls?.close() }
        drain()
    }

    /// Ends the stream properly, without CLOSE.
    func finish() {
        guard !isOver else { return }
        stage = .closing
        closeBy = .now + .seconds(1)
        tls?.close()
        drain()
    }

    /// Ends the stream without CLOSE or close_notify.
    func discard() {
        guard stage != .ended else { return }
        stage = .ended
        loop.remove(self)
        socket.close()
    }

    func finish(_ ending: Ending) {
        guard stage != .ended else { return }
        let wasOver = isOver
        if case .closed = ending, let tls, bug != .endsWithoutNotify {
            tls.close()
            outgoing += tls.drainOutput()
            flush()
        }
        discard()
        if !wasOver { owner?.ended(self, ending) }
    }

    func tick(_ now: Instant) {
        if let closeBy, now >= closeBy { discard() }
    }
}
