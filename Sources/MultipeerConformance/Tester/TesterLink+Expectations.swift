/// What a case expects on a connection. Each call takes what was received, and throws `CaseFailure` when it is something
/// else.
extension TesterLink {
    /// Kinds that may come at any time; they are skipped unless they are expected.
    private static let noise: Set<FrameKind> = [.ping, .pong, .credit, .datagrams, .members]

    /// Waits for the next frame of any kind, noise and ignorable kinds too; returns nil when the connection has ended or
    /// the time is over.
    func nextFrame(within duration: Duration) -> Frame? {
        caseRun.loop.wait(duration) { !waiting.isEmpty || ending != nil }
        return takeFirst()
    }

    /// Waits for the next frame of this kind; before it, the connection must not end, and only noise may come.
    @discardableResult
    func expect(_ kind: FrameKind, within duration: Duration = .seconds(10)) throws -> Frame {
        let deadline = ContinuousClock.now + duration
        while true {
            caseRun.loop.wait(until: deadline) { !waiting.isEmpty || ending != nil }
            guard let frame = takeFirst() else {
                if let ending {
                    throw CaseFailure("\(name): \(kind) expected, but the connection ended: \(ending)")
                }
                throw CaseFailure("\(name): no \(kind) within \(duration)")
            }
            if frame.kind == kind { return frame }
            guard isNoise(frame) else {
                throw CaseFailure("\(name): \(kind) expected, \(frame.words) received")
            }
        }
    }

    private func isNoise(_ frame: Frame) -> Bool {
        frame.kind.isIgnorable || TesterLink.noise.contains(frame.kind)
    }

    /// Checks that the connection is refused with one of these codes: CLOSE, then its end. Frames before CLOSE do not
    /// count.
    @discardableResult
    func expectClose(_ codes: CloseCode..., within duration: Duration = .seconds(5)) throws -> CloseCode {
        try expectClose(codes, within: duration)
    }

    @discardableResult
    func expectClose(_ codes: [CloseCode], within duration: Duration) throws -> CloseCode {
        let deadline = ContinuousClock.now + duration
        while true {
            caseRun.loop.wait(until: deadline) { !waiting.isEmpty || ending != nil }
            guard let frame = takeFirst() else {
                if let ending { throw CaseFailure("\(name): CLOSE(\(codes.words)) expected, but: \(ending)") }
                throw CaseFailure("\(name): no CLOSE(\(codes.words)) within \(duration)")
            }
            guard frame.kind == .close else { continue }
            guard let code = frame.code, codes.contains(code) else {
                throw CaseFailure("\(name): CLOSE(\(codes.words)) expected, \(frame.words) received")
            }
            try expectEnd(within: .seconds(3))
            return code
        }
    }

    /// Waits for CLOSE, and returns it and the frames before it.
    func closing(within duration: Duration) throws -> (frame: Frame, before: [Frame]) {
        var before: [Frame] = []
        let deadline = ContinuousClock.now + duration
        while true {
            caseRun.loop.wait(until: deadline) { !waiting.isEmpty || ending != nil }
            guard let frame = takeFirst() else {
                throw CaseFailure(
                    "\(name): CLOSE expected\(ending.map { ", but: \($0)" } ?? " within \(duration)")")
            }
            if frame.kind == .close {
                try expectEnd()
                return (frame, before)
            }
            if !frame.kind.isIgnorable { before.append(frame) }
        }
    }

    /// Checks that the connection ends, within the second that CLOSE may take and some more.
    @discardableResult
    func expectEnd(within duration: Duration = .seconds(5)) throws -> TesterConnection.Ending {
        caseRun.loop.wait(duration) { ending != nil }
        guard let ending else { throw CaseFailure("\(name): still open after \(duration)") }
        return ending
    }

    /// Checks that the connection is refused before any frame: by TLS, or by its end.
    @discardableResult
    func expectRefusal(within duration: Duration = .seconds(8)) throws -> TesterConnection.Ending {
        let ending = try expectEnd(within: duration)
        if let frame = waiting.first {
            throw CaseFailure("\(name): no frame expected, \(frame.words) received")
        }
        return ending
    }

    /// Checks that the link ends with this code for a broken rule, and that the subject reports it.
    func expectBroken(_ code: CloseCode, by pair: Pair) throws {
        try expectClose(code)
        try pair.session.expectNotConnected(pair.tester.endpoint.uid, [code])
    }

    /// Checks that only noise comes, and that the connection stays open.
    func expectQuiet(for duration: Duration) throws {
        caseRun.loop.wait(duration) { ending != nil || waiting.contains { !isNoise($0) } }
        if let ending { throw CaseFailure("\(name): the connection ended: \(ending)") }
        if let frame = waiting.first(where: { !isNoise($0) }) {
            throw CaseFailure("\(name): \(frame.words) received")
        }
    }

    /// Checks that the link is alive: PING is answered, with the same eight bytes.
    func expectAlive(within duration: Duration = .seconds(5)) throws {
        let opaque = caseRun.random.bytes(8)
        send(.ping(opaque))
        caseRun.loop.wait(duration) {
            ending != nil || waiting.contains { $0.kind == .pong && $0.payload == opaque }
        }
        guard waiting.contains(where: { $0.kind == .pong && $0.payload == opaque }) else {
            throw CaseFailure(
                "\(name): PING is not answered\(ending.map { ": \($0)" } ?? " within \(duration)")")
        }
    }

    /// Waits for one message of the subject, and returns it reassembled; each part must be long enough.
    func expectMessage(within duration: Duration = .seconds(10)) throws -> [UInt8] {
        let deadline = ContinuousClock.now + duration
        var bytes: [UInt8] = []
        while true {
            let frame = try expectPiece(until: deadline)
            bytes += frame.payload
            if frame.kind == .message { return bytes }
            guard frame.payload.count >= 1_024 else {
                throw CaseFailure("\(name): MSG_PART of \(frame.payload.count) bytes")
            }
        }
    }

    private func expectPiece(until deadline: ContinuousClock.Instant) throws -> Frame {
        while true {
            caseRun.loop.wait(until: deadline) { !waiting.isEmpty || ending != nil }
            guard let frame = takeFirst() else {
                throw CaseFailure("\(name): no message\(ending.map { ": \($0)" } ?? " in time")")
            }
            if frame.kind == .message || frame.kind == .part { return frame }
            guard isNoise(frame) else {
                throw CaseFailure("\(name): a message expected, \(frame.words) received")
            }
        }
    }
}

extension Frame {
    /// The kind, and the code of CLOSE and similar frames.
    var words: String { code.map { "\(kind)(\($0))" } ?? "\(kind)" }
}
