/// What a case demands of a connection. Each call takes what came, and throws `CaseFailure` when it is something else.
extension TesterLink {
    /// Kinds that come by themselves, at any time; they are passed over unless they are what is asked for.
    private static let noise: Set<FrameKind> = [.ping, .pong, .credit, .datagrams, .members]

    /// The next frame of any kind, noise and ignorable kinds too; nil when the connection has ended or the time is over.
    func nextFrame(within duration: Duration) -> Frame? {
        caseRun.loop.wait(duration) { !waiting.isEmpty || ending != nil }
        return takeFirst()
    }

    /// The next frame of this kind; the connection must not end, and nothing but noise come, before it.
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
            guard isNoise(frame) else { throw CaseFailure("\(name): \(kind) expected, \(frame.words) came") }
        }
    }

    private func isNoise(_ frame: Frame) -> Bool {
        frame.kind.isIgnorable || TesterLink.noise.contains(frame.kind)
    }

    /// The connection is refused with one of these codes: CLOSE, then its end. Frames before CLOSE do not count.
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
                throw CaseFailure("\(name): CLOSE(\(codes.words)) expected, \(frame.words) came")
            }
            try expectEnd(within: .seconds(3))
            return code
        }
    }

    /// CLOSE, and what came before it.
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

    /// The connection ends, within the second that CLOSE may linger and some more.
    @discardableResult
    func expectEnd(within duration: Duration = .seconds(5)) throws -> TesterConnection.Ending {
        caseRun.loop.wait(duration) { ending != nil }
        guard let ending else { throw CaseFailure("\(name): still open after \(duration)") }
        return ending
    }

    /// The connection is refused before any frame: by TLS, or by its end.
    @discardableResult
    func expectRefusal(within duration: Duration = .seconds(8)) throws -> TesterConnection.Ending {
        let ending = try expectEnd(within: duration)
        if let frame = waiting.first { throw CaseFailure("\(name): no frame expected, \(frame.words) came") }
        return ending
    }

    /// A rule is broken: the link ends with this code, and the subject says so.
    func expectBroken(_ code: CloseCode, by pair: Pair) throws {
        try expectClose(code)
        try pair.session.expectNotConnected(pair.tester.endpoint.uid, [code])
    }

    /// Nothing but noise comes, and the connection lives.
    func expectQuiet(for duration: Duration) throws {
        caseRun.loop.wait(duration) { ending != nil || waiting.contains { !isNoise($0) } }
        if let ending { throw CaseFailure("\(name): the connection ended: \(ending)") }
        if let frame = waiting.first(where: { !isNoise($0) }) {
            throw CaseFailure("\(name): \(frame.words) came")
        }
    }

    /// The link lives: PING is answered, with the same eight bytes.
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

    /// One message of the subject, put together from its parts; each part must be long enough.
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
                throw CaseFailure("\(name): a message expected, \(frame.words) came")
            }
        }
    }
}

extension Frame {
    /// FrameKind, and the code of CLOSE and its like.
    var words: String { code.map { "\(kind)(\($0))" } ?? "\(kind)" }
}
