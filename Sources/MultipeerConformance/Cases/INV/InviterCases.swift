/// Chapter 12: the subject as inviter.
enum InviterCases {
    static let all: [Case] = [
        Case(
            "INV-16", "12.8", level: .invite, "an inviter asks, completes, and links",
            stimulus: "S invites T; T accepts",
            expectation: "a valid INVITE, COMPLETE only after ANSWER, a link",
            rules: ["invite.order", "invite.consent", "invite.data"],
            bugs: [.seen("invite-completes-early", by: "COMPLETE before")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.tester(beside: session, preference: .required)
            let context = caseRun.random.bytes(20)
            let answer = try session.invite(tester, context: context)
            try caseRun.require(answer["error"] == nil, "'invite' fails")
            let invitee = try TesterInvitation(accepting: tester)
            try invitee.expectReady()
            let entries = try invitee.expectInvite()
            try caseRun.require(entries.first(InvitationFrames.Field.context) == context, "another context")
            try caseRun.require(
                entries.first(InvitationFrames.Field.recipient) == tester.endpoint.uid, "another recipient")
            caseRun.loop.wait(.milliseconds(500))
            try caseRun.require(
                !invitee.link.waiting.contains { $0.kind == .complete }, "COMPLETE before ANSWER")
            let mine = tester.data(for: session.uid)
            invitee.answer(entries.first(InvitationFrames.Field.id) ?? [], .ok, data: mine.bytes)
            let theirs = try invitee.expectComplete()
            _ = try session.meet(tester, mine: mine, theirs: theirs)
            try session.expectInviteResult([.ok], of: tester.endpoint.uid)
        },
        Case(
            "INV-17", "12.10", level: .invite, "an inviter is notified of the answer",
            stimulus: "S invites T; T declines, answers FULL, does not answer for 2 s",
            expectation: "DECLINED, FULL, TIMEOUT; no COMPLETE; a late OK is ignored",
            rules: ["invite.timeout", "invite.consent"],
            bugs: [.seen("invite-answers-late", by: "not TIMEOUT")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            for code in [CloseCode.declined, .full, .timeout] {
                let tester = try caseRun.tester(beside: session, preference: .required)
                _ = try session.invite(tester, timeout: code == .timeout ? 2 : 30)
                let invitee = try TesterInvitation(accepting: tester)
                let id = try invitee.expectInvite().first(InvitationFrames.Field.id) ?? []
                if code == .timeout {
                    caseRun.loop.wait(.seconds(3))
                    invitee.answer(id, .ok, data: tester.data(for: session.uid).bytes)
                } else {
                    invitee.answer(id, code)
                }
                try session.expectInviteResult([code], of: tester.endpoint.uid)
                caseRun.loop.wait(.milliseconds(300))
                try caseRun.require(
                    !invitee.link.waiting.contains { $0.kind == .complete }, "COMPLETE without OK")
                invitee.link.connection.close()
            }
        },
        Case(
            "INV-18", "12.8", level: .invite, "an inviter retries after BUSY",
            stimulus: "S invites T; T answers BUSY twice, then accepts",
            expectation: "INVITE again after some 250 and 500 ms, then COMPLETE", rules: ["invite.busy"],
            bugs: [.seen("invite-gives-up-busy", by: "does not dial")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.tester(beside: session, preference: .required)
            _ = try session.invite(tester)
            for _ in 0..<2 {
                let invitee = try TesterInvitation(accepting: tester, within: .seconds(3))
                invitee.answer(try invitee.expectInvite().first(InvitationFrames.Field.id) ?? [], .busy)
                invitee.link.connection.close()
            }
            let invitee = try TesterInvitation(accepting: tester, within: .seconds(3))
            let id = try invitee.expectInvite().first(InvitationFrames.Field.id) ?? []
            invitee.answer(id, .declined)
            try session.expectInviteResult([.declined], of: tester.endpoint.uid)
        },
        Case(
            "INV-37", "12.8", level: .invite, "an INVITE after BUSY names the time that is left",
            stimulus: "S invites T for 20 s; T answers BUSY four times",
            expectation: "TIMEOUT of the fifth INVITE is what is left, rounded up", rules: ["invite.busy"],
            bugs: [.seen("invite-whole-timeout", by: "TIMEOUT")], seconds: 30
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.tester(beside: session, preference: .required)
            let start = ContinuousClock.now
            _ = try session.invite(tester, timeout: 20)
            for round in 1...5 {
                let invitee = try TesterInvitation(accepting: tester, within: .seconds(8))
                let entries = try invitee.expectInvite()
                let past = (ContinuousClock.now - start) / .seconds(1)
                let timeout = (entries.first(InvitationFrames.Field.timeout) ?? []).number
                try caseRun.require(
                    Double(timeout) < 21.2 - past && Double(timeout) > 17 - past,
                    "TIMEOUT of \(timeout) s after \(past) s of 20")
                let id = entries.first(InvitationFrames.Field.id) ?? []
                invitee.answer(id, round < 5 ? .busy : .declined)
                invitee.link.connection.close()
            }
            try session.expectInviteResult([.declined], of: tester.endpoint.uid)
        },
        Case(
            "INV-19", "12.9", level: .invite, "an invalid ANSWER ends the invitation",
            stimulus:
                "ANSWER with another ID, OK without data, DECLINED with data, OK with the data of another peer",
            expectation: "PROTOCOL", rules: ["invite.data", "invite.order"],
            bugs: [
                .seen("invite-any-answer", by: "CLOSE(PROTOCOL)"),
                .seen("invite-data-of-anyone", by: "CLOSE(PROTOCOL)"),
            ],
            seconds: 40
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            for fault in 0..<4 {
                let tester = try caseRun.tester(beside: session, preference: .required)
                _ = try session.invite(tester)
                let invitee = try TesterInvitation(accepting: tester)
                let id = try invitee.expectInvite().first(InvitationFrames.Field.id) ?? []
                var data = tester.data(for: session.uid)
                switch fault {
                case 0: invitee.answer(caseRun.random.bytes(16), .ok, data: data.bytes)
                case 1: invitee.answer(id, .ok)
                case 2: invitee.answer(id, .declined, data: data.bytes)
                default:
                    data.endpoint.uid = caseRun.random.bytes(16)
                    invitee.answer(id, .ok, data: data.bytes)
                }
                try invitee.link.expectClose(.protocol)
                try session.expectNo("connecting", of: tester.endpoint.uid, for: .milliseconds(100))
            }
        },
    ]
}
