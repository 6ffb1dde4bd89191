import MultipeerSecurity

/// Chapter 13.
enum CodeCases {
    static let all: [Case] = [
        Case(
            "SAS-01", "13.4", level: .code, "both ends compute the same digits",
            stimulus: "both ask; T complies, as either end", expectation: "the code by the formula",
            rules: ["sas.role", "sas.value", "sas.reveal"],
            bugs: [
                .seen("sas-swaps-nonces", by: "the code is"), .seen("sas-without-key", by: "the code is"),
                .seen("sas-never-requests", by: "SAS_REQUEST"),
            ],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            try pair.session.call("code", ["peer": .string(pair.tester.endpoint.uid.hex)])
            let code = try link.agreeOnCode()
            try pair.session.expectCode(code, for: pair.tester.endpoint.uid)
            try link.expectAlive()
        },
        Case(
            "SAS-02", "13.5", level: .code, "a nonce that is not the committed one is refused",
            stimulus: "T reveals another nonce than it committed itself to",
            expectation: "BAD_MAC, and no code",
            rules: ["sas.commit"], bugs: [.seen("sas-ignores-commitment", by: "CLOSE(BAD_MAC)")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            let peer = pair.tester.endpoint.uid
            try pair.session.call("code", ["peer": .string(peer.hex)])
            try link.expect(.codeRequest)
            var nonce = caseRun.random.bytes(32)
            link.send(.commitment(to: nonce))
            try link.expect(.codeNonce)
            nonce[31] ^= 1
            link.send(Frame(.codeReveal, nonce))
            try link.expectClose(.badMAC)
            guard let event = pair.session.event("code", from: peer) else {
                throw CaseFailure("'code' has no outcome")
            }
            try caseRun.require(event["code"] == nil, "a code is shown")
            try caseRun.require(event["error"] != nil, "'code' has neither code nor error")
        },
        Case(
            "SAS-03", "13.3", level: .code, "a man-in-the-middle with keys of its own is detected",
            stimulus:
                "T stands between two sessions of S and hands every SAS frame from one to the other, on 1,000 pairs of links",
            expectation: "two different codes each time; once they may be the same by chance",
            rules: ["sas.value"], bugs: [.seen("sas-without-key", by: "both show")], seconds: 900
        ) { caseRun in
            let settings = SubjectSession.Settings(preference: .required)
            let (low, high) = (try caseRun.session(settings), try caseRun.session(settings))
            // Above one, below the other: with one it commits, with the other it answers.
            let above = try caseRun.introduce(
                low, caseRun.tester(beside: low, "above", preference: .required, order: .testerHigher))
            let below = try caseRun.introduce(
                high, caseRun.tester(beside: high, "below", preference: .required, order: .testerLower))
            var equal = 0
            for run in 1...1_000 {
                let codes = try above.codes(through: below)
                if codes.0 == codes.1 { equal += 1 }
                try caseRun.require(equal < 2, "both show \(codes.0) in run \(run), for the second time")
            }
            caseRun.note("\(equal) of 1,000 pairs of codes are equal")
        },
        Case(
            "SAS-04", "13.4", level: .code, "no frames are sent before the application has asked",
            stimulus: "T begins; S's application asks a second later",
            expectation: "no frames before; then the run continues", rules: ["sas.requested", "sas.role"],
            bugs: [.seen("sas-unasked", by: "SAS_")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            let nonce = caseRun.random.bytes(32)
            link.send(link.linkParameters.isControlling ? .commitment(to: nonce) : Frame(.codeRequest))
            try link.expectQuiet(for: .seconds(1))
            try pair.session.call("code", ["peer": .string(pair.tester.endpoint.uid.hex)])
            let code = try link.agreeOnCode(committed: link.linkParameters.isControlling ? nonce : nil)
            try pair.session.expectCode(code, for: pair.tester.endpoint.uid)
        },
        Case(
            "SAS-05", "13.5", level: .code, "a plain link has no code",
            stimulus: "each SAS frame on a plain link",
            expectation: "PROTOCOL", rules: ["sas.plain"],
            bugs: [.seen("sas-on-plain-links", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            for frame in [Frame(.codeRequest), .commitment(to: caseRun.random.bytes(32))] {
                let (pair, link) = try caseRun.linked()
                link.send(frame)
                try link.expectBroken(.protocol, by: pair)
            }
        },
        Case(
            "SAS-06", "13.5", level: .code, "a run keeps its order",
            stimulus: "frames of the wrong end, and too early",
            expectation: "PROTOCOL", rules: ["sas.order"],
            bugs: [.seen("sas-any-order", by: "CLOSE(PROTOCOL)")], orders: UIDOrder.allCases
        ) { caseRun in
            let nonce = caseRun.random.bytes(32)
            let wrong: [Frame] =
                caseRun.order == .testerLower
                ? [Frame(.codeRequest), Frame(.codeNonce, nonce), Frame(.codeReveal, nonce)]
                : [.commitment(to: nonce), Frame(.codeNonce, nonce), Frame(.codeReveal, nonce)]
            for frame in wrong + [.result(.ok), .result(.declined)] {
                let (pair, link) = try caseRun.linked(.init(preference: .required))
                link.send(frame)
                try link.expectBroken(.protocol, by: pair)
            }
        },
        Case(
            "SAS-07", "13.4", level: .code, "a link has one run and one code",
            stimulus: "S asks again after the code; T sends SAS_REQUEST again, or commits again",
            expectation: "the same code; SAS_REQUEST is ignored, SAS_COMMIT is PROTOCOL", rules: ["sas.once"],
            bugs: [.seen("sas-runs-again", by: "no code is shown")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            let peer = pair.tester.endpoint.uid
            try pair.session.call("code", ["peer": .string(peer.hex)])
            let code = try link.agreeOnCode()
            try pair.session.expectCode(code, for: peer)
            try pair.session.call("code", ["peer": .string(peer.hex)])
            try pair.session.expectCode(code, for: peer)
            guard link.linkParameters.isControlling else {
                link.send(Frame(.codeRequest))
                return try link.expectAlive()
            }
            link.send(.commitment(to: caseRun.random.bytes(32)))
            try link.expectBroken(.protocol, by: pair)
        },
        Case(
            "SAS-08", "13.4", level: .code, "a user confirms once",
            stimulus: "after the code, T sends SAS_RESULT with OK, twice",
            expectation: "nothing for the first, PROTOCOL for the second",
            rules: ["sas.result", "sas.order"],
            bugs: [.seen("sas-confirmed-twice", by: "CLOSE(PROTOCOL)")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            let peer = pair.tester.endpoint.uid
            try pair.session.call("code", ["peer": .string(peer.hex)])
            try pair.session.expectCode(link.agreeOnCode(), for: peer)
            link.send(.result(.ok))
            try link.expectAlive()
            link.send(.result(.ok))
            try link.expectBroken(.protocol, by: pair)
        },
        Case(
            "SAS-09", "13.4", level: .code, "a peer that does not compare now says so",
            stimulus: "S asks; T sends SAS_RESULT with DECLINED, and complies later",
            expectation: "S's application learns it at once; the run continues", rules: ["sas.result"],
            bugs: [.seen("sas-ignores-declined", by: "'code' has no outcome")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            let peer = pair.tester.endpoint.uid
            try pair.session.call("code", ["peer": .string(peer.hex)])
            let first = try link.expect(link.linkParameters.isControlling ? .codeRequest : .codeCommit)
            link.send(.result(.declined))
            guard let event = pair.session.event("code", from: peer) else {
                throw CaseFailure("'code' has no outcome")
            }
            try caseRun.require(event["error"]?.text == "DECLINED", "the error is not DECLINED")
            let code = try link.agreeOnCode(after: first)
            try pair.session.call("code", ["peer": .string(peer.hex)])
            try pair.session.expectCode(code, for: peer)
        },
        Case(
            "SAS-10", "13.4", level: .code, "each run has a new nonce",
            stimulus: "a run on each of two links",
            expectation: "two nonces of S, or two commitments", rules: ["sas.reveal"],
            bugs: [.seen("sas-same-nonce", by: "the same nonce")], orders: UIDOrder.allCases
        ) { caseRun in
            var said: [[UInt8]] = []
            for _ in 0..<2 {
                let (pair, link) = try caseRun.linked(.init(preference: .required))
                try pair.session.call("code", ["peer": .string(pair.tester.endpoint.uid.hex)])
                guard link.linkParameters.isControlling else {
                    said.append(try link.expect(.codeCommit).payload)
                    continue
                }
                try link.expect(.codeRequest)
                link.send(.commitment(to: caseRun.random.bytes(32)))
                said.append(try link.expect(.codeNonce).payload)
            }
            try caseRun.require(said[0] != said[1], "S has the same nonce twice")
        },
        Case(
            "SAS-11", "13.4", level: .code, "an application does not wait for a code forever",
            stimulus: "S's application asks; T is silent for 60 s, and complies then",
            expectation: "after 60 s S's application learns that there is none yet; then the code",
            rules: ["sas.wait"], bugs: [.seen("sas-waits-forever", by: "has no outcome")], seconds: 100
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            let peer = pair.tester.endpoint.uid
            let start = ContinuousClock.now
            try pair.session.call("code", ["peer": .string(peer.hex)])
            let first = try link.expect(link.linkParameters.isControlling ? .codeRequest : .codeCommit)
            guard let event = pair.session.event("code", from: peer, within: .seconds(75)) else {
                throw CaseFailure("'code' has no outcome")
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            try caseRun.require(event["error"] != nil && seconds > 55, "an outcome after \(seconds) s")
            let code = try link.agreeOnCode(after: first)
            try pair.session.call("code", ["peer": .string(peer.hex)])
            try pair.session.expectCode(code, for: peer)
        },
    ]
}

extension Frame {
    /// Returns SAS_RESULT. Spec 13.3.
    static func result(_ code: CloseCode) -> Frame {
        Frame(.codeResult, [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)])
    }

    /// Returns SAS_COMMIT. Spec 13.3.
    static func commitment(to nonce: [UInt8]) -> Frame {
        Frame(.codeCommit, SHA256.hash(Array("MPC/1 sas".utf8) + nonce))
    }
}

extension Pair {
    /// Links both, relays the frames of one run between them, unlinks both, and returns what each session shows.
    fileprivate func codes(through other: Pair) throws -> (String, String) {
        let pairs = [self, other]
        let links = try pairs.map { try $0.link() }
        for pair in pairs {
            try pair.session.call("code", ["peer": .string(pair.tester.endpoint.uid.hex)])
        }
        try links[1].expect(.codeRequest)
        links[1].send(try links[0].expect(.codeCommit))
        links[0].send(try links[1].expect(.codeNonce))
        links[1].send(try links[0].expect(.codeReveal))
        let codes = try pairs.map { try $0.session.expectCode(nil, for: $0.tester.endpoint.uid) }
        for (pair, link) in zip(pairs, links) {
            link.send(.close(.goodbye))
            try pair.session.expectNotConnected(pair.tester.endpoint.uid)
            try pair.session.connect(pair.linkParameters.mine)
        }
        return (codes[0], codes[1])
    }
}

extension TesterLink {
    /// Does one run with a subject whose application has asked; `committed`: the nonce if SAS_COMMIT is sent already; `first`:
    /// the subject's first frame if it has come already.
    func agreeOnCode(committed: [UInt8]? = nil, after first: Frame? = nil) throws -> String {
        let own = committed ?? caseRun.random.bytes(32)
        let other: [UInt8]
        if linkParameters.isControlling {
            // The other end asks for the run, unless the run has begun already.
            if committed == nil {
                if first == nil { try expect(.codeRequest) }
                send(.commitment(to: own))
            }
            other = try expect(.codeNonce).payload
            send(Frame(.codeReveal, own))
            return code(own, other)
        }
        let commitment = try (first ?? expect(.codeCommit)).payload
        send(Frame(.codeNonce, own))
        other = try expect(.codeReveal).payload
        guard Frame.commitment(to: other).payload == commitment else {
            throw CaseFailure("\(name): SAS_REVEAL is not what SAS_COMMIT promised")
        }
        return code(other, own)
    }

    private func code(_ controlling: [UInt8], _ controlled: [UInt8]) -> String {
        let mac = HMAC.sha256(
            key: connection.tls?.exported("EXPORTER-mpc1-sas") ?? [], controlling + controlled)
        return [mac.prefix(4), mac.dropFirst(4).prefix(4)].map { half in
            let number = half.reduce(0) { $0 << 8 | Int($1) } % 1_000_000
            return String(repeating: "0", count: 6 - "\(number)".count) + "\(number)"
        }.joined()
    }
}

extension SubjectSession {
    /// Waits for the code that the application is shown; it must be this one, if one is given.
    @discardableResult
    func expectCode(_ code: String?, for peer: [UInt8]) throws -> String {
        guard let event = event("code", from: peer) else { throw CaseFailure("no code is shown") }
        guard let shown = event["code"]?.text else {
            throw CaseFailure("no code: \(event["error"]?.text ?? "no error")")
        }
        guard shown.utf8.count == 12, shown.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else {
            throw CaseFailure("'\(shown)' is not twelve digits")
        }
        if let code, shown != code { throw CaseFailure("the code is \(code), and \(shown) is shown") }
        return shown
    }
}
