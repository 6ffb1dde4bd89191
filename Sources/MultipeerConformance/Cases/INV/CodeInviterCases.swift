/// Sections 13.8 and 13.9: the subject as an inviter with a code.
enum CodeInviterCases {
    static let all: [Case] = [
        Case(
            "INV-25", "13.9", level: .invite,
            "an inviter with a code sends INVITE after the proof, and not before",
            stimulus: "S invites T with a code; T shares, waits, confirms, declines",
            expectation: "SHARE, CONFIRMATION, nothing more until T has confirmed, then INVITE",
            rules: ["code.order", "code.binding"],
            bugs: [.seen("code-invites-early", by: "before the proof")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.tester(beside: session, preference: .required)
            _ = try session.invite(tester, code: CodeInviteeCases.code)
            let invitee = try TesterInvitation(accepting: tester)
            let proof = try invitee.answerShare(CodeInviteeCases.code)
            let confirmation = try invitee.link.expect(.confirmation)
            try caseRun.require(confirmation.payload == proof.other, "another CONFIRMATION")
            caseRun.loop.wait(.milliseconds(300))
            try caseRun.require(
                !invitee.link.waiting.contains { $0.kind == .invite }, "INVITE before the proof")
            invitee.link.send(Frame(.confirmation, proof.own))
            let entries = try invitee.expectInvite()
            invitee.answer(entries.first(InvitationFrames.Field.id) ?? [], .declined)
            try session.expectInviteResult([.declined], of: tester.endpoint.uid)
        },
        Case(
            "INV-26", "13.9", level: .invite, "an inviter makes one guess possible, and no more",
            stimulus: "T confirms wrongly; T sends the inviter's confirmation back; T closes instead",
            expectation: "no INVITE; the result is WRONG_CODE, and S does not dial again",
            rules: ["code.guess"],
            bugs: [
                .seen("code-any-confirmation", by: "CLOSE(WRONG_CODE)"),
                .seen("code-guess-again", by: "dials again"),
            ]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            for way in 0..<3 {
                let tester = try caseRun.tester(beside: session, preference: .required)
                _ = try session.invite(tester, code: CodeInviteeCases.code)
                let invitee = try TesterInvitation(accepting: tester)
                let guess = try invitee.answerShare(CodeInviteeCases.otherWords)
                let confirmation = try invitee.link.expect(.confirmation).payload
                try caseRun.require(confirmation != guess.other, "the guess is right")
                if way == 2 {
                    invitee.link.connection.close()
                    caseRun.loop.wait(.milliseconds(1_500))
                    try caseRun.require(tester.callers == 0, "S dials again after a guess")
                } else {
                    invitee.link.send(Frame(.confirmation, way == 0 ? guess.own : confirmation))
                    try invitee.link.expectClose(.wrongCode)
                }
                try session.expectInviteResult([.wrongCode], of: tester.endpoint.uid)
            }
        },
        Case(
            "INV-40", "13.9", level: .invite, "an inviter whose user mistyped a code learns that, and stops",
            stimulus:
                "S invites T with other words; T closes with WRONG_CODE after CONFIRMATION, or instead of SHARE",
            expectation: "the result is WRONG_CODE, and S does not dial again",
            rules: ["code.guess", "code.mismatch"],
            bugs: [
                .seen("code-retries-mismatch", by: "not notified"),
                .seen("code-wrong-is-lost", by: "WRONG_CODE"),
            ]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            for isGuess in [true, false] {
                let tester = try caseRun.tester(beside: session, preference: .required)
                _ = try session.invite(tester, code: CodeInviteeCases.otherWords)
                let invitee = try TesterInvitation(accepting: tester)
                if isGuess {
                    let proof = try invitee.answerShare(CodeInviteeCases.code)
                    let confirmation = try invitee.link.expect(.confirmation)
                    try caseRun.require(confirmation.payload != proof.other, "the words are right")
                } else {
                    try invitee.expectReady()
                    try invitee.link.expect(.share)
                }
                invitee.link.send(.close(.wrongCode))
                try session.expectInviteResult([.wrongCode], of: tester.endpoint.uid)
                caseRun.loop.wait(.milliseconds(200))
                try caseRun.require(tester.callers == 0, "S dials again after WRONG_CODE")
            }
        },
    ]
}

/// The tester's part of the exchange.
extension TesterInvitation {
    /// What the connection exports for the exchange.
    var codeBinding: [UInt8] { link.connection.tls?.exported("EXPORTER-mpc1-code") ?? [] }

    static func exchange(_ code: String, isInviter: Bool, _ caseRun: CaseRun) throws -> CodeExchange {
        guard let spoken = SpokenCode(code) else { throw CaseFailure("\(code) is no code") }
        return CodeExchange(spoken, isInviter: isInviter, scalar: caseRun.random.bytes(48))
    }

    /// Sends SHARE.
    @discardableResult
    func share(_ code: String) throws -> CodeExchange {
        try expectReady()
        let exchange = try TesterInvitation.exchange(code, isInviter: true, caseRun)
        link.send(Frame(.share, exchange.share))
        return exchange
    }

    /// Sends SHARE, waits for the subject's, and returns the confirmations that follow.
    func guess(_ code: String, binding: [UInt8]? = nil) throws -> CodeExchange.Confirmations {
        let exchange = try share(code)
        let theirs = try link.expect(.share)
        guard let both = exchange.confirmations(with: theirs.payload, binding: binding ?? codeBinding) else {
            throw CaseFailure("\(link.name): SHARE without a point")
        }
        return both
    }

    /// Proves the code to the subject, and requires its proof.
    func prove(_ code: String) throws {
        let both = try guess(code)
        link.send(Frame(.confirmation, both.own))
        let theirs = try link.expect(.confirmation)
        try caseRun.require(theirs.payload == both.other, "another CONFIRMATION")
    }

    /// Waits for SHARE of the subject as an inviter, answers it, and returns the confirmations that follow.
    func answerShare(_ code: String) throws -> CodeExchange.Confirmations {
        try expectReady()
        let theirs = try link.expect(.share)
        let exchange = try TesterInvitation.exchange(code, isInviter: false, caseRun)
        guard let both = exchange.confirmations(with: theirs.payload, binding: codeBinding) else {
            throw CaseFailure("\(link.name): SHARE without a point")
        }
        link.send(Frame(.share, exchange.share))
        return both
    }
}
