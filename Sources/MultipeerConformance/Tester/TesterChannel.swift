/// One channel of a link for a case: it sends bytes within the credit, and returns credit for bytes that it receives.
struct TesterChannel {
    let link: TesterLink
    let number: UInt32

    /// The limit up to which the tester may send on a channel of its own.
    private var limit: Int { Int(clamping: link.channelLimits[number] ?? UInt64(link.channelCredit)) }

    /// Sends bytes in pieces, waiting for credit; `position` counts what was sent on the channel before.
    func send(
        _ bytes: [UInt8], from position: Int = 0, within duration: Duration = .seconds(30)
    ) throws {
        var sent = 0
        let deadline = ContinuousClock.now + duration
        while sent < bytes.count {
            let room = limit - position - sent
            guard room > 0, link.connection.unsent < 1 << 20 else {
                try awaitRoom(after: position + sent, until: deadline)
                continue
            }
            let end = min(bytes.count, sent + min(room, Frame.longestData))
            link.send(.data(number, Array(bytes[sent..<end])))
            sent = end
        }
    }

    /// Waits briefly for credit beyond `position`; throws if none can come.
    private func awaitRoom(after position: Int, until deadline: ContinuousClock.Instant) throws {
        link.caseRun.loop.wait(until: min(deadline, .now + .milliseconds(50))) {
            link.ending != nil || link.connection.unsent < 1 << 20 && limit > position
        }
        if let ending = link.ending {
            throw CaseFailure("\(link.name): the connection ended while bytes were sent: \(ending)")
        }
        if let stop = link.waiting.first(where: { $0.kind == .stop && $0.channel == number }) {
            throw CaseFailure("\(link.name): \(stop.words) on channel \(number) after \(position) bytes")
        }
        guard ContinuousClock.now < deadline else {
            throw CaseFailure("\(link.name): no CREDIT on channel \(number) after \(position) bytes")
        }
    }

    /// Receives bytes of the subject until FIN, and returns credit for them; returns the digest of FIN, too. `granted`:
    /// what the subject was granted so far, if that is not the HELLO's.
    func expectBytes(
        granted already: UInt64? = nil, within duration: Duration = .seconds(30)
    ) throws -> (bytes: [UInt8], digest: [UInt8]?) {
        let deadline = ContinuousClock.now + duration
        let window = UInt64(link.linkParameters.limits.channelCredit)
        var granted = already ?? window
        var bytes: [UInt8] = []
        while true {
            let frame = try expectFrame(until: deadline)
            switch frame.kind {
            case .data:
                bytes += frame.payload
                try link.caseRun.require(
                    UInt64(bytes.count) <= granted, "\(link.name): DATA beyond the credit")
                guard UInt64(bytes.count) + window >= granted + window / 4 else { continue }
                granted = UInt64(bytes.count) + window
                link.send(.credit(granted, channel: number))
            case .fin: return (bytes, try digest(of: frame))
            default: throw CaseFailure("\(link.name): \(frame.words) instead of DATA or FIN")
            }
        }
    }

    private func digest(of frame: Frame) throws -> [UInt8]? {
        do throws(Malformed) {
            let entries = try [TLVEntry].read(frame.payload, known: [Frame.Field.digest])
            guard let digest = entries.first(Frame.Field.digest) else { return nil }
            guard digest.count == 32 else { throw Malformed("DIGEST has \(digest.count) bytes") }
            return digest
        } catch {
            throw CaseFailure("\(link.name): FIN: \(error)")
        }
    }

    /// Waits for the next frame of the channel; frames of other channels, and noise, are skipped.
    func expectFrame(until deadline: ContinuousClock.Instant) throws -> Frame {
        while true {
            guard let frame = link.nextFrame(within: max(.zero, deadline - .now)) else {
                if let ending = link.ending {
                    throw CaseFailure("\(link.name): the connection ended: \(ending)")
                }
                throw CaseFailure("\(link.name): nothing on channel \(number) in time")
            }
            if frame.channel == number, ![.credit, .ping, .pong].contains(frame.kind),
                !frame.kind.isIgnorable
            {
                return frame
            }
            if frame.kind == .close { throw CaseFailure("\(link.name): \(frame.words)") }
        }
    }

    /// Waits for the next frame of this kind on this channel.
    @discardableResult
    func expect(_ kind: FrameKind, _ codes: CloseCode..., within duration: Duration = .seconds(10)) throws
        -> Frame
    {
        let deadline = ContinuousClock.now + duration
        while true {
            let frame = try expectFrame(until: deadline)
            // Bytes that were in flight when STOP was sent.
            if frame.kind == .data, kind != .data { continue }
            let isRight = frame.kind == kind && (codes.isEmpty || frame.code.map(codes.contains) == true)
            guard isRight else {
                throw CaseFailure("\(link.name): \(kind)(\(codes.words)) expected, \(frame.words) received")
            }
            return frame
        }
    }
}

extension TesterLink {
    func channel(_ number: UInt32) -> TesterChannel { TesterChannel(link: self, number: number) }

    /// The bytes that the tester may send on a channel before the subject has sent CREDIT. Spec 9.4.
    var channelCredit: Int { Int(receivedHello?.limits.channelCredit ?? 0) }

    /// Waits for a channel that the subject opens.
    func expectOpen(within duration: Duration = .seconds(10)) throws -> (number: UInt32, opening: OpenFrame) {
        let frame = try expect(.open, within: duration)
        do throws(Malformed) { return (frame.channel, try OpenFrame(frame)) } catch {
            throw CaseFailure("\(name): OPEN: \(error)")
        }
    }
}
