/// Chapter 12, the subject as invitee.
enum InviteeCases {
    static let all: [Case] = [
        Case(
            "INV-01", "12.8", level: .invite, "an invitation that is accepted becomes a link",
            stimulus: "T invites S, S accepts, T completes; both connect with what they got",
            expectation: "TLS with a certificate; ANSWER(OK) with S's data for T; a link; nothing in clear",
            rules: ["invite.tls", "invite.order", "invite.consent", "invite.data", "invite.context"],
            bugs: [.seen("invite-tells-early", by: "before the application's")], orders: UIDOrder.allCases
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, "Inviter", preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            let context = Array("let us play a game".utf8)
            try inviting.invite(session.uid, context: context)
            let question = try session.question(from: tester.endpoint.uid)
            try caseRun.require(question["name"]?.text == "Inviter", "another name is shown")
            try caseRun.require(question["context"]?.text == context.hex, "another context is shown")
            caseRun.loop.wait(.milliseconds(300))
            try caseRun.require(
                !inviting.link.waiting.contains { $0.kind == .answer }, "ANSWER before the application's")
            _ = try session.answer(question, true)
            guard let theirs = try inviting.expectAnswer(.ok) else {
                throw CaseFailure("no data in ANSWER(OK)")
            }
            let mine = inviting.complete(session.uid)
            inviting.link.connection.close()
            let link = try session.meet(tester, mine: mine, theirs: theirs)
            try link.expectAlive()
            let seen = inviting.link.connection.firstBytes
            for secret in [Array("subject".utf8), theirs, ConnectionData.magic] {
                try caseRun.require(!seen.holds(secret), "something of S is to be read in clear")
            }
        },
        Case(
            "INV-02", "12.8", level: .invite, "a peer that declines reveals nothing",
            stimulus: "T invites S, S declines",
            expectation: "ANSWER(DECLINED) without data, and the end of the connection",
            rules: ["invite.consent"],
            bugs: [.seen("invite-data-on-decline", by: "DATA does not fit")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.invite(session.uid)
            let question = try session.question(from: tester.endpoint.uid)
            _ = try session.answer(question, false)
            try inviting.expectAnswer(.declined)
            inviting.link.connection.close()
        },
        Case(
            "INV-03", "12.9", level: .invite, "a context of 32,768 bytes, and one byte more",
            stimulus: "contexts of 0, 32,768 and 32,769 bytes", expectation: "asked, asked, PROTOCOL",
            rules: ["invite.context"], bugs: [.seen("invite-context-unlimited", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            for count in [0, 32_768] {
                let tester = try caseRun.tester(beside: session, preference: .required)
                let inviting = try TesterInvitation(tester, port: port)
                let context = caseRun.random.bytes(count)
                try inviting.invite(session.uid, context: context)
                let question = try session.question(from: tester.endpoint.uid)
                try caseRun.require(
                    question["context"]?.text ?? "" == context.hex, "another context is shown")
                _ = try session.answer(question, false)
                try inviting.expectAnswer(.declined)
                inviting.link.connection.close()
            }
            let tester = try caseRun.tester(beside: session, preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.invite(session.uid, context: caseRun.random.bytes(32_769))
            try inviting.link.expectClose(.protocol)
            try caseRun.require(
                session.event("invitation", within: .milliseconds(300)) == nil, "the application is asked")
        },
        Case(
            "INV-04", "12.8", level: .invite, "an answer after the timeout is ignored",
            stimulus: "TIMEOUT is 2 s; S accepts after 3 s",
            expectation: "the connection ends after 2 s, no ANSWER(OK), no data",
            rules: ["invite.timeout"], bugs: [.seen("invite-answers-late", by: "after the timeout")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.invite(session.uid, timeout: 2)
            let question = try session.question(from: tester.endpoint.uid)
            caseRun.loop.wait(.seconds(3))
            _ = try session.answer(question, true)
            caseRun.loop.wait(.seconds(1))
            let isAnswered = inviting.link.waiting.contains { $0.kind == .answer && $0.payload.count > 60 }
            try caseRun.require(!isAnswered, "ANSWER with data after the timeout")
            try inviting.link.expectEnd(within: .seconds(2))
        },
        Case(
            "INV-05", "12.8", level: .invite, "an inviter that disconnects withdraws the question",
            stimulus:
                "T closes while S's application is asked, and invites again; both are answered after T has disconnected",
            expectation: "two questions; the answers have no effect", rules: ["invite.cancel"],
            bugs: [.seen("invite-stays-withdrawn", by: "is not asked")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let first = try TesterInvitation(tester, port: port)
            try first.invite(session.uid)
            let question = try session.question(from: tester.endpoint.uid)
            first.link.connection.close()
            caseRun.loop.wait(.milliseconds(500))
            let second = try TesterInvitation(tester, port: port)
            try second.invite(session.uid)
            let next = try session.question(from: tester.endpoint.uid)
            _ = try session.answer(question, true)
            caseRun.loop.wait(.milliseconds(300))
            try caseRun.require(!second.link.waiting.contains { $0.kind == .answer }, "the old answer counts")
            second.link.send(.close(.cancelled))
            caseRun.loop.wait(.milliseconds(500))
            _ = try session.answer(next, true)
            try session.expectNo("connected", of: tester.endpoint.uid, for: .milliseconds(500))
        },
        Case(
            "INV-09", "12.9", level: .invite, "an invitation to another peer, or from the local one",
            stimulus: "RECIPIENT is another uid; INVITER has S's uid",
            expectation: "UNKNOWN_PEER; SELF; the application is not asked",
            rules: ["invite.recipient"], bugs: [.seen("invite-any-recipient", by: "no ANSWER")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let one = try TesterInvitation(tester, port: port)
            try one.invite(caseRun.random.bytes(16))
            try one.expectAnswer(.unknownPeer)
            one.link.connection.close()
            let twin = try Tester("twin", uid: session.uid, preference: .required, in: caseRun)
            let two = try TesterInvitation(twin, port: port)
            try two.invite(session.uid)
            try two.expectAnswer(.itself)
            try caseRun.require(
                session.event("invitation", within: .milliseconds(300)) == nil, "the application is asked")
            two.link.connection.close()
        },
        Case(
            "INV-10", "12.8", level: .invite, "INVITE, ANSWER and COMPLETE keep their order",
            stimulus:
                "COMPLETE first; COMPLETE before ANSWER; INVITE twice; ANSWER from T; COMPLETE with the data of another",
            expectation: "PROTOCOL", rules: ["invite.order", "invite.data"],
            bugs: [
                .seen("invite-complete-first", by: "CLOSE(PROTOCOL)"),
                .seen("invite-data-of-anyone", by: "CLOSE(PROTOCOL)"),
            ], seconds: 40
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            func begin(_ isInvited: Bool) throws -> (TesterInvitation, Tester) {
                let tester = try caseRun.tester(beside: session, preference: .required)
                let inviting = try TesterInvitation(tester, port: port)
                if isInvited {
                    try inviting.invite(session.uid)
                    _ = try session.question(from: tester.endpoint.uid)
                } else {
                    try inviting.expectReady()
                }
                return (inviting, tester)
            }
            let (first, _) = try begin(false)
            first.complete(session.uid)
            try first.link.expectClose(.protocol)
            let (second, _) = try begin(true)
            second.complete(session.uid)
            try second.link.expectClose(.protocol)
            let (third, _) = try begin(true)
            try third.invite(session.uid)
            try third.link.expectClose(.protocol)
            let (fourth, _) = try begin(true)
            fourth.answer(fourth.id, .declined)
            try fourth.link.expectClose(.protocol)
            let tester = try caseRun.tester(beside: session, preference: .required)
            let fifth = try TesterInvitation(tester, port: port)
            try fifth.invite(session.uid)
            let question = try session.question(from: tester.endpoint.uid)
            _ = try session.answer(question, true)
            try fifth.expectAnswer(.ok)
            fifth.complete(session.uid) { $0.endpoint.uid = caseRun.random.bytes(16) }
            try fifth.link.expectClose(.protocol)
        },
        Case(
            "INV-11", "12.8", level: .invite, "sessions and invitations do not mix",
            stimulus:
                "HELLO at the port for invitations; ALPN mpc/1 there, and mpc-invite/1 at the port for links",
            expectation: "PROTOCOL; the handshakes fail", rules: ["invite.tls", "frame.order"],
            bugs: [.seen("invite-on-session-alpn", by: "no frame expected")]
        ) { caseRun in
            let (session, port) = try caseRun.advertiser()
            let tester = try caseRun.tester(beside: session, preference: .required)
            let one = try TesterInvitation(tester, port: port)
            try one.expectReady()
            one.link.send(Frame(.hello, .pattern(199)))
            try one.link.expectClose(.protocol)
            let two = try TesterInvitation(tester, port: port, alpn: "mpc/1")
            try two.link.expectRefusal()
            let pair = try caseRun.introduce(session, tester)
            var setup = tester.setup(isServer: false)
            setup.protocols = [InvitationFrames.alpn]
            let three = try tester.dial(pair.linkParameters, tls: setup)
            try three.expectRefusal()
            _ = try pair.link()
        },
    ]
}

extension [UInt8] {
    /// Returns whether they contain these bytes.
    func holds(_ part: [UInt8]) -> Bool {
        guard !part.isEmpty, count >= part.count else { return false }
        return (0...(count - part.count)).contains { self[$0] == part[0] && self[$0...].starts(with: part) }
    }
}
