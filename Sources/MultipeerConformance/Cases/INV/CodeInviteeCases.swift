/// Sections 13.8 and 13.9: the subject as an invitee with a code.
enum CodeInviteeCases {
    static let code = "7-guitar-island"
    static let otherWords = "7-guitar-castle"

    static let all: [Case] = [
        Case(
            "INV-20", "13.9", level: .invite, "who proves the code may invite, and is linked",
            stimulus: "T proves S's code, invites S, S accepts, T completes; then a second T with the code",
            expectation: "SHARE, CONFIRMATION, a question, a link; the code is used: WRONG_CODE",
            rules: ["code.order", "code.password", "code.once"],
            bugs: [
                .seen("code-any-words", by: "CONFIRMATION"),
                .seen("code-never-ends", by: "CLOSE(WRONG_CODE)"),
            ]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser(code: code)
            let tester = try caseRun.tester(beside: session, preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.prove(code)
            try inviting.invite(session.uid, context: caseRun.random.bytes(20_000))
            let question = try session.question(from: tester.endpoint.uid)
            _ = try session.answer(question, true)
            guard let theirs = try inviting.expectAnswer(.ok) else {
                throw CaseFailure("no data in ANSWER(OK)")
            }
            let mine = inviting.complete(session.uid)
            inviting.link.connection.close()
            _ = try session.meet(tester, mine: mine, theirs: theirs)
            let late = try TesterInvitation(
                try caseRun.tester(beside: session, "late", preference: .required), port: port)
            try late.share(code)
            try late.link.expectClose(.wrongCode)
        },
        Case(
            "INV-21", "13.9", level: .invite, "one wrong guess ends a code",
            stimulus:
                "two T share, the first confirms another word, the second the right one; then a third with the right one",
            expectation: "WRONG_CODE for all three; S's application is notified once",
            rules: ["code.guess", "code.once"],
            bugs: [
                .seen("code-any-confirmation", by: "CLOSE(WRONG_CODE)"),
                .seen("code-second-guess", by: "CLOSE(WRONG_CODE)"),
                .seen("code-silent", by: "not notified"),
            ]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser(code: code)
            let tester = try caseRun.tester(beside: session, preference: .required)
            let wrong = try TesterInvitation(tester, port: port)
            let guess = try wrong.guess(otherWords)
            let right = try TesterInvitation(tester, port: port)
            let proof = try right.guess(code)
            wrong.link.send(Frame(.confirmation, guess.own))
            try wrong.link.expectClose(.wrongCode)
            right.link.send(Frame(.confirmation, proof.own))
            try right.link.expectClose(.wrongCode)
            guard let event = session.event("code-guess", within: .seconds(5)) else {
                throw CaseFailure("the application is not notified of a wrong guess")
            }
            try caseRun.require(event["last"]?.isTrue == true, "the code is still valid")
            let late = try TesterInvitation(tester, port: port)
            try late.share(code)
            try late.link.expectClose(.wrongCode)
            try caseRun.require(
                session.event("code-guess", within: .milliseconds(300)) == nil,
                "notified of more than one guess")
        },
        Case(
            "INV-22", "13.9", level: .invite, "what was confirmed on another connection proves nothing",
            stimulus:
                "T confirms with the exporter of another connection, as a relay would, with zeros, and without any",
            expectation: "WRONG_CODE", rules: ["code.binding"],
            bugs: [.seen("code-unbound", by: "CLOSE(WRONG_CODE)")]
        ) { caseRun in
            for way in 0..<3 {
                let (session, port) = try caseRun.advertiser(code: code)
                let tester = try caseRun.tester(beside: session, preference: .required)
                let inviting = try TesterInvitation(tester, port: port)
                let other = try TesterInvitation(tester, port: port)
                try other.expectReady()
                let bindings = [other.codeBinding, [UInt8](repeating: 0, count: 32), []]
                let guess = try inviting.guess(code, binding: bindings[way])
                inviting.link.send(Frame(.confirmation, guess.own))
                try inviting.link.expectClose(.wrongCode)
                other.link.connection.close()
            }
        },
        Case(
            "INV-23", "13.9", level: .invite, "an invitee with a code requires it",
            stimulus: "INVITE at once; INVITE after SHARE; CONFIRMATION at once",
            expectation: "CODE_REQUIRED; PROTOCOL; PROTOCOL; no question, and the code stays valid",
            rules: ["code.required", "code.order"],
            bugs: [
                .seen("code-not-required", by: "no ANSWER"), .seen("code-any-order", by: "CLOSE(PROTOCOL)"),
            ]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser(code: code)
            let tester = try caseRun.tester(beside: session, preference: .required)
            let one = try TesterInvitation(tester, port: port)
            try one.invite(session.uid)
            try one.expectAnswer(.codeRequired)
            one.link.connection.close()
            let two = try TesterInvitation(tester, port: port)
            _ = try two.guess(code)
            try two.invite(session.uid)
            try two.link.expectClose(.protocol)
            let three = try TesterInvitation(tester, port: port)
            try three.expectReady()
            three.link.send(Frame(.confirmation, .pattern(32)))
            try three.link.expectClose(.protocol)
            try caseRun.require(
                session.event("invitation", within: .milliseconds(300)) == nil, "the application is asked")
            let four = try TesterInvitation(tester, port: port)
            try four.prove(code)
            four.link.connection.close()
        },
        Case(
            "INV-35", "13.9", level: .invite,
            "a code has a number from 1 to 999, and 2 to 8 words of the list",
            stimulus: "S advertises with codes of other forms; then with abbreviated words in capitals",
            expectation: "an error each time; T proves the code with its whole words", rules: ["code.words"],
            bugs: [.seen("code-any-form", by: "is taken")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            func advertise(_ code: String) throws -> JSONValue {
                try session.ask("advertise", ["type": "conform", "discovery": "none", "code": .string(code)])
            }
            let nine = [String](repeating: "guitar", count: 9).joined(separator: "-")
            for code in ["0-guitar-island", "1000-guitar-island", "7-guitar", "7-guitar-qqqqq", "7-" + nine] {
                try caseRun.require(try advertise(code)["error"] != nil, "the code \(code) is taken")
            }
            let answer = try advertise("7-GUITAR-Islan")
            guard let port = answer["port"]?.int.flatMap(UInt16.init(exactly:)) else {
                throw CaseFailure("abbreviated words are refused: \(answer["reason"]?.text ?? "no reason")")
            }
            let tester = try caseRun.tester(beside: session, preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.prove(code)
            inviting.link.connection.close()
        },
        Case(
            "INV-36", "13.9", level: .invite, "a code that stays valid is guessed slowly",
            stimulus:
                "S's code is repeated; T confirms another word, and shares again at once, and after 2 s",
            expectation: "WRONG_CODE; BUSY; SHARE, and the code is proven", rules: ["code.repeated"],
            bugs: [.seen("code-never-pauses", by: "CLOSE(BUSY)")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let answer = try session.call(
                "advertise",
                ["type": "conform", "discovery": "none", "code": .string(code), "validity": "repeated"])
            guard let port = answer["port"]?.int.flatMap(UInt16.init(exactly:)) else {
                throw Skip("the shim does not state its port for invitations")
            }
            let tester = try caseRun.tester(beside: session, preference: .required)
            let wrong = try TesterInvitation(tester, port: port)
            let guess = try wrong.guess(otherWords)
            wrong.link.send(Frame(.confirmation, guess.own))
            try wrong.link.expectClose(.wrongCode)
            let early = try TesterInvitation(tester, port: port)
            try early.share(code)
            try early.link.expectClose(.busy)
            caseRun.loop.wait(.milliseconds(2_200))
            let late = try TesterInvitation(tester, port: port)
            try late.prove(code)
            late.link.connection.close()
        },
        Case(
            "INV-24", "13.9", level: .invite, "a share that is no point, and one for another number",
            stimulus:
                "shares off the curve, compressed, of zeros; number 8; w·M of the right words, then the end",
            expectation: "PROTOCOL; WRONG_CODE; SHARE as for any point; none of them is a guess",
            rules: ["code.point", "code.mismatch", "code.guess"],
            bugs: [
                .seen("code-any-point", by: "CLOSE(PROTOCOL)"),
                .seen("code-ended-by-anything", by: "SHARE expected"),
                .seen("code-tells-infinity", by: "SHARE expected"),
            ]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser(code: code)
            let tester = try caseRun.tester(beside: session, preference: .required)
            let good = Array(
                try TesterInvitation.exchange(code, isInviter: true, caseRun).share.dropFirst(2))
            var off = good
            off[64] ^= 1
            let zeros = [UInt8](repeating: 0, count: 65)
            let packed = [2 + (good[64] & 1)] + good[1...32] + zeros[..<32]
            for point in [off, Array(packed), zeros, [4] + zeros[1...]] {
                let inviting = try TesterInvitation(tester, port: port)
                try inviting.expectReady()
                inviting.link.send(Frame(.share, [0, 7] + point))
                try inviting.link.expectClose(.protocol)
            }
            let other = try TesterInvitation(tester, port: port)
            try other.share("8-guitar-island")
            try other.link.expectClose(.wrongCode)
            let gone = try TesterInvitation(tester, port: port)
            try gone.expectReady()
            gone.link.send(
                Frame(.share, try TesterInvitation.exchange(code, isInviter: true, caseRun).mask))
            try gone.link.expect(.share)
            gone.link.connection.close()
            let last = try TesterInvitation(tester, port: port)
            try last.share(code)
            try last.link.expect(.share)
            last.link.connection.close()
        },
    ]
}
