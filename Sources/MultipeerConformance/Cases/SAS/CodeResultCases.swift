/// Section 13.4: what the subject does when its user has compared the code, or does not.
enum CodeResultCases {
    /// How long nothing may come.
    private static let quiet = Duration.milliseconds(150)

    static let all: [Case] = [
        Case(
            "SAS-40", "13.4", level: .code, "a user who finds different digits ends the link",
            stimulus: "after the code, S's user finds different digits",
            expectation: "CLOSE(WRONG_CODE); S's application learns it too", rules: ["sas.different"],
            bugs: [.seen("sas-different-goodbye", by: "CLOSE(WRONG_CODE)")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linkedWithCode()
            try pair.compared(.wrongCode)
            try link.expectClose(.wrongCode)
            try pair.session.expectNotConnected(pair.tester.endpoint.uid, [.wrongCode])
        },
        Case(
            "SAS-41", "13.4", level: .code, "the no of the other user is shown as what it is",
            stimulus: "after the code, T closes with WRONG_CODE",
            expectation: "S's application learns WRONG_CODE, and not that a peer left",
            rules: ["sas.different"], bugs: [.seen("sas-no-is-goodbye", by: "not WRONG_CODE")]
        ) { caseRun in
            let (pair, link) = try caseRun.linkedWithCode()
            link.send(.close(.wrongCode))
            try pair.session.expectNotConnected(pair.tester.endpoint.uid, [.wrongCode])
        },
        Case(
            "SAS-42", "13.4", level: .code, "a user who confirms is announced once, and nothing else is",
            stimulus: "S's user confirms, twice; then T does. On another link T confirms first",
            expectation: "SAS_RESULT once, and only after S's user; verified once both have confirmed",
            rules: ["sas.result"],
            bugs: [
                .seen("sas-confirms-alone", by: "before both"),
                .seen("sas-confirms-twice", by: "SAS_RESULT"), .seen("sas-echoes-result", by: "SAS_RESULT"),
            ]
        ) { caseRun in
            for isFirst in [true, false] {
                let (pair, link) = try caseRun.linkedWithCode()
                if !isFirst { link.send(.result(.ok)) } else { try pair.confirm(link) }
                if isFirst { try pair.compared(.ok) }
                try link.expectQuiet(for: quiet)
                try caseRun.require(!pair.isVerified(within: .zero), "verified before both have confirmed")
                if isFirst { link.send(.result(.ok)) } else { try pair.confirm(link) }
                try caseRun.require(pair.isVerified(within: .seconds(5)), "not verified")
                try link.expectAlive()
            }
        },
        Case(
            "SAS-43", "13.4", level: .code, "asked, a user who does not compare now says so, once",
            stimulus: "T begins; S's user declines, twice; then S's application asks after all",
            expectation: "SAS_RESULT with DECLINED, once; the link stays; the run continues",
            rules: ["sas.result"],
            bugs: [
                .seen("sas-declines-silently", by: "SAS_RESULT"),
                .seen("sas-declines-twice", by: "SAS_RESULT"),
                .seen("sas-declines-by-closing", by: "SAS_RESULT"),
            ],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            let peer = pair.tester.endpoint.uid
            let nonce = caseRun.random.bytes(32)
            let isControlling = link.linkParameters.isControlling
            link.send(isControlling ? .commitment(to: nonce) : Frame(.codeRequest))
            guard pair.session.event("code-requested", from: peer) != nil else {
                throw CaseFailure("the application is not asked")
            }
            try pair.compared(.declined)
            try pair.expectResult(.declined, on: link)
            try pair.compared(.declined)
            try link.expectQuiet(for: quiet)
            try pair.session.call("code", ["peer": .string(peer.hex)])
            let code = try link.agreeOnCode(committed: isControlling ? nonce : nil)
            try pair.session.expectCode(code, for: peer)
        },
    ]
}

extension CaseRun {
    /// Links a session and the tester, which agree on a code.
    fileprivate func linkedWithCode() throws -> (Pair, TesterLink) {
        let (pair, link) = try linked(.init(preference: .required))
        let peer = pair.tester.endpoint.uid
        try pair.session.call("code", ["peer": .string(peer.hex)])
        try pair.session.expectCode(link.agreeOnCode(), for: peer)
        return (pair, link)
    }
}

extension Pair {
    /// Says what the subject's user says of the code.
    fileprivate func compared(_ result: CloseCode) throws {
        try session.call(
            "compared",
            ["peer": .string(tester.endpoint.uid.hex), "result": .string(result.description)])
    }

    /// The subject's user confirms.
    fileprivate func confirm(_ link: TesterLink) throws {
        try compared(.ok)
        try expectResult(.ok, on: link)
    }

    fileprivate func expectResult(_ code: CloseCode, on link: TesterLink) throws {
        let result = try link.expect(.codeResult)
        guard result.payload == Frame.result(code).payload else {
            throw CaseFailure("SAS_RESULT is \(result.payload.hex), not \(code)")
        }
    }

    fileprivate func isVerified(within duration: Duration) -> Bool {
        session.event("verified", from: tester.endpoint.uid, within: duration) != nil
    }
}
