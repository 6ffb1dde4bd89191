import MultipeerSecurity

/// Channels as a case uses them: bytes within the credit, and bytes that come with credit for more.
extension Link {
    /// What the subject lets the tester send on a channel before it has sent CREDIT. Spec 9.4.
    var channelCredit: Int { Int(receivedHello?.limits.channelCredit ?? 0) }

    /// Sends bytes in pieces, waiting for credit; `position` counts what was sent on the channel before.
    func sendData(
        _ channel: UInt32, _ bytes: [UInt8], from position: Int = 0, within duration: Duration = .seconds(30)
    ) throws {
        var sent = 0
        let deadline = ContinuousClock.now + duration
        while sent < bytes.count {
            let room = channelLimit(channel) - position - sent
            guard room > 0, unsent < 1 << 20 else {
                trial.pump.wait(until: min(deadline, .now + .milliseconds(50))) {
                    ending != nil || unsent < 1 << 20 && channelLimit(channel) - position - sent > 0
                }
                if let ending {
                    throw Failure("\(name): the connection ended while bytes were sent: \(ending)")
                }
                if let stop = waiting.first(where: { $0.kind == .stop && $0.channel == channel }) {
                    throw Failure(
                        "\(name): \(stop.words) on channel \(channel) after \(position + sent) bytes")
                }
                guard ContinuousClock.now < deadline else {
                    throw Failure("\(name): no CREDIT on channel \(channel) after \(position + sent) bytes")
                }
                continue
            }
            let end = min(bytes.count, sent + min(room, Frame.longestData))
            send(.data(channel, Array(bytes[sent..<end])))
            sent = end
        }
    }

    /// Up to where the tester may send on a channel of its own.
    func channelLimit(_ channel: UInt32) -> Int {
        Int(clamping: channelLimits[channel] ?? UInt64(channelCredit))
    }

    /// A channel that the subject opens.
    func expectOpen(within duration: Duration = .seconds(10)) throws -> (number: UInt32, opening: Opening) {
        let frame = try expect(.open, within: duration)
        do throws(Malformed) { return (frame.channel, try Opening(frame)) } catch {
            throw Failure("\(name): OPEN: \(error)")
        }
    }

    /// Bytes of a channel of the subject until FIN, with credit for more as they come; answers the digest of FIN, too.
    /// `granted`: what the subject was granted so far, if it is not the HELLO's.
    func expectBytes(
        _ channel: UInt32, granted already: UInt64? = nil, within duration: Duration = .seconds(30)
    ) throws -> (bytes: [UInt8], digest: [UInt8]?) {
        let deadline = ContinuousClock.now + duration
        let window = UInt64(terms.limits.channelCredit)
        var granted = already ?? window
        var bytes: [UInt8] = []
        while true {
            let frame = try expectFrame(of: channel, until: deadline)
            switch frame.kind {
            case .data:
                bytes += frame.payload
                try trial.require(UInt64(bytes.count) <= granted, "\(name): DATA beyond the credit")
                guard UInt64(bytes.count) + window >= granted + window / 4 else { continue }
                granted = UInt64(bytes.count) + window
                send(.credit(granted, channel: channel))
            case .fin: return (bytes, try digest(of: frame))
            default: throw Failure("\(name): \(frame.words) instead of DATA or FIN")
            }
        }
    }

    private func digest(of frame: Frame) throws -> [UInt8]? {
        do throws(Malformed) {
            let entries = try [Entry].read(frame.payload, known: [Frame.Field.digest])
            guard let digest = entries.first(Frame.Field.digest) else { return nil }
            guard digest.count == 32 else { throw Malformed("DIGEST has \(digest.count) bytes") }
            return digest
        } catch {
            throw Failure("\(name): FIN: \(error)")
        }
    }

    /// The next frame of a channel; what concerns others, and noise, is passed over.
    func expectFrame(of channel: UInt32, until deadline: ContinuousClock.Instant) throws -> Frame {
        while true {
            guard let frame = nextFrame(within: max(.zero, deadline - .now)) else {
                if let ending { throw Failure("\(name): the connection ended: \(ending)") }
                throw Failure("\(name): nothing on channel \(channel) in time")
            }
            if frame.channel == channel, ![.credit, .ping, .pong].contains(frame.kind),
                !frame.kind.isIgnorable
            {
                return frame
            }
            if frame.kind == .close { throw Failure("\(name): \(frame.words)") }
        }
    }

    /// The next frame of this kind on this channel.
    @discardableResult
    func expect(
        _ kind: Kind, on channel: UInt32, _ codes: Code..., within duration: Duration = .seconds(10)
    ) throws -> Frame {
        let deadline = ContinuousClock.now + duration
        while true {
            let frame = try expectFrame(of: channel, until: deadline)
            // What was on its way when the subject was told to stop.
            if frame.kind == .data, kind != .data { continue }
            let isRight = frame.kind == kind && (codes.isEmpty || frame.code.map(codes.contains) == true)
            guard isRight else {
                throw Failure("\(name): \(kind)(\(codes.words)) expected, \(frame.words) came")
            }
            return frame
        }
    }

    /// One connection's worth of a rule that is broken: the link ends with this code.
    func expectBroken(_ code: Code, by pair: Pair) throws {
        try expectClose(code)
        try pair.session.expectNotConnected(pair.tester.endpoint.uid, [code])
    }
}

extension SubjectSession {
    /// A stream that a peer opened: the number by which the shim calls it.
    func expectStream(_ name: String? = nil, from peer: [UInt8], within duration: Duration = .seconds(10))
        throws -> Int
    {
        guard let event = event("stream", from: peer, within: duration), let number = event["stream"]?.int
        else {
            throw Failure("no stream is told of within \(duration)")
        }
        if let name, event["name"]?.text != name {
            throw Failure("a stream is called '\(event["name"]?.text ?? "")', not '\(name)'")
        }
        return number
    }

    /// How a stream or a resource ended: the event that tells it.
    func expectEnd(
        _ kind: String, _ key: String, _ number: Int, within duration: Duration = .seconds(10)
    ) throws -> JSONValue {
        let found = subject.event(within: duration) {
            $0["session"]?.text == handle && $0["event"]?.text == kind && $0[key]?.int == number
        }
        guard let found else { throw Failure("no '\(kind)' of \(key) \(number) within \(duration)") }
        return found
    }

    /// A stream that ended behind its last byte, which was the last of these.
    func expectStreamEnd(_ number: Int, _ bytes: [UInt8], within duration: Duration = .seconds(10)) throws {
        let end = try expectEnd("stream-end", "stream", number, within: duration)
        if let error = end["error"]?.text { throw Failure("the stream ends with \(error)") }
        guard end["size"]?.int == bytes.count, end["sha256"]?.text == Trial.digest(bytes) else {
            throw Failure("\(end["size"]?.int ?? -1) bytes came by the stream that are not those sent")
        }
    }

    /// A stream that ended before its time.
    @discardableResult
    func expectStreamError(_ number: Int, _ codes: [Code] = [], within duration: Duration = .seconds(10))
        throws
        -> JSONValue
    {
        let end = try expectEnd("stream-end", "stream", number, within: duration)
        guard let error = end["error"]?.text else { throw Failure("the stream is told of as complete") }
        if !codes.isEmpty, !codes.contains(where: { $0.description == error }) {
            throw Failure("the stream ends with \(error), not \(codes.words)")
        }
        return end
    }

    /// Opens a stream, and answers the number by which the shim calls it.
    func openStream(_ name: String, to peer: [UInt8]) throws -> Int {
        let answer = try call("stream", ["to": .string(peer.hex), "name": .string(name)])
        guard let number = answer["stream"]?.int else { throw Failure("'stream' answers no number") }
        return number
    }
}
