/// Chapter 12: who is asked how often, and where there is room; then the subject as inviter.
extension Suite {
    static let roomCases: [Case] = [
        Case(
            "INV-07", "12.8", level: .invite, "the same inviter asks once",
            stimulus: "T invites five times, without waiting",
            expectation: "one question; the earlier connections hear DUPLICATE, the last one the ANSWER",
            rules: ["invite.pending", "invite.once"],
            bugs: [.seen("invite-asks-each-time", by: "CLOSE(DUPLICATE)")]
        ) { trial in
            let (session, port) = try trial.advertiser()
            let tester = try trial.tester(beside: session, preference: .required)
            var all: [Inviting] = []
            for _ in 0..<5 {
                let inviting = try Inviting(tester, port: port)
                try inviting.invite(session.uid)
                all.append(inviting)
                trial.pump.wait(.milliseconds(300))
            }
            let question = try trial.question(of: session, from: tester.endpoint.uid)
            for earlier in all.dropLast() { try earlier.link.expectClose(.duplicate) }
            let again = session.event("invitation", within: .milliseconds(500))
            try trial.require(again == nil, "the application is asked twice")
            _ = try trial.answer(question, false, of: session)
            try all[4].expectAnswer(.declined)
        },
        Case(
            "INV-08", "12.8", level: .invite, "sixteen questions at most, four of an address",
            stimulus: "100 inviters from 25 addresses",
            expectation: "at most 16 questions wait, at most 4 of an address; the others hear BUSY",
            rules: ["invite.pending"], bugs: [.seen("invite-unlimited", by: "are pending")], seconds: 90
        ) { trial in
            let (session, port) = try trial.advertiser()
            var all: [Inviting] = []
            for index in 0..<100 {
                let tester = try trial.tester(beside: session, "inviter \(index)", preference: .required)
                let inviting = try Inviting(tester, port: port, from: [127, 0, 1, UInt8(index % 25 + 1)])
                try inviting.invite(session.uid)
                all.append(inviting)
            }
            trial.pump.wait(.seconds(2))
            let open = all.filter {
                $0.link.ending == nil && !$0.link.waiting.contains { $0.kind == .answer }
            }
            try trial.require(open.count <= 16, "\(open.count) invitations are pending")
            try trial.require(open.count >= 4, "only \(open.count) invitations are pending")
            for refused in all where refused.link.waiting.contains(where: { $0.kind == .answer }) {
                try refused.expectAnswer(.busy)
            }
            for inviting in all { inviting.link.close() }
            trial.pump.wait(.seconds(1))
        },
        Case(
            "INV-13", "12.10", level: .invite, "an advertiser without a seat says FULL",
            stimulus: "S, which may have one link, is linked; T invites it", expectation: "FULL",
            rules: ["limit.links"],
            bugs: [.seen("invite-ignores-seats", by: "not FULL")]
        ) { trial in
            let (session, port) = try trial.advertiser(.init(preference: .required, limits: ["peers": 2]))
            let first = try trial.tester(beside: session, "first", preference: .required)
            let pair = try trial.introduce(session, first)
            let link = try pair.link()
            let tester = try trial.tester(beside: session, "second", preference: .required)
            let inviting = try Inviting(tester, port: port)
            try inviting.invite(session.uid)
            // An application may be asked first: then it is its yes that finds no seat.
            if let question = session.event("invitation", from: tester.endpoint.uid, within: .seconds(1)) {
                _ = try trial.answer(question, true, of: session)
            }
            try inviting.expectAnswer(.full)
            try link.expectAlive()
            trial.isSessionSpent = true
        },
        Case(
            "INV-14", "12.8", level: .invite, "who stops advertising answers nobody any more",
            stimulus: "S stops while T's question is open", expectation: "CANCELLED",
            rules: ["invite.cancel"],
            bugs: [.seen("invite-outlives-advertising", by: "CLOSE(CANCELLED)")]
        ) { trial in
            let (session, port) = try trial.advertiser()
            let tester = try trial.tester(beside: session, preference: .required)
            let inviting = try Inviting(tester, port: port)
            try inviting.invite(session.uid)
            _ = try trial.question(of: session, from: tester.endpoint.uid)
            try session.call("unadvertise")
            try inviting.link.expectClose(.cancelled)
        },
        Case(
            "INV-15", "12.8", level: .invite, "an advertiser waits five seconds for INVITE",
            stimulus: "T says nothing behind TLS", expectation: "the connection ends with TIMEOUT after 5 s",
            rules: ["invite.deadline"], bugs: [.seen("invite-without-deadline", by: "CLOSE(TIMEOUT)")]
        ) { trial in
            let (session, port) = try trial.advertiser()
            let tester = try trial.tester(beside: session, preference: .required)
            let inviting = try Inviting(tester, port: port)
            try inviting.expectReady()
            try inviting.link.expectClose([.timeout], within: .seconds(7))
        },
    ]

    static let inviterCases: [Case] = [
        Case(
            "INV-16", "12.8", level: .invite, "an inviter asks, completes, and links",
            stimulus: "S invites T; T says yes",
            expectation: "INVITE as it must be, COMPLETE behind ANSWER alone, a link",
            rules: ["invite.order", "invite.consent", "invite.data"],
            bugs: [.seen("invite-completes-early", by: "COMPLETE before")],
            orders: Order.allCases
        ) { trial in
            let session = try trial.session(.init(preference: .required))
            let tester = try trial.tester(beside: session, preference: .required)
            let context = trial.random.bytes(20)
            let answer = try trial.invite(tester, from: session, context: context)
            try trial.require(answer["error"] == nil, "'invite' fails")
            let invitee = try Inviting(accepting: tester)
            try invitee.expectReady()
            let entries = try invitee.expectInvite()
            try trial.require(entries.first(Invitation.Field.context) == context, "another context")
            try trial.require(
                entries.first(Invitation.Field.recipient) == tester.endpoint.uid, "another recipient")
            trial.pump.wait(.milliseconds(500))
            try trial.require(
                !invitee.link.waiting.contains { $0.kind == .complete }, "COMPLETE before ANSWER")
            let mine = tester.data(for: session.uid)
            invitee.answer(entries.first(Invitation.Field.id) ?? [], .ok, data: mine.bytes)
            let theirs = try invitee.expectComplete()
            _ = try trial.meet(session, tester, mine: mine, theirs: theirs)
            try trial.expectResult([.ok], of: session, tester.endpoint.uid)
        },
        Case(
            "INV-17", "12.10", level: .invite, "an inviter is told the answer",
            stimulus: "S invites T; T declines, says FULL, says nothing for 2 s",
            expectation: "DECLINED, FULL, TIMEOUT; no COMPLETE; an OK that comes too late is ignored",
            rules: ["invite.timeout", "invite.consent"],
            bugs: [.seen("invite-answers-late", by: "not TIMEOUT")]
        ) { trial in
            let session = try trial.session(.init(preference: .required))
            for code in [Code.declined, .full, .timeout] {
                let tester = try trial.tester(beside: session, preference: .required)
                _ = try trial.invite(tester, from: session, timeout: code == .timeout ? 2 : 30)
                let invitee = try Inviting(accepting: tester)
                let id = try invitee.expectInvite().first(Invitation.Field.id) ?? []
                if code == .timeout {
                    trial.pump.wait(.seconds(3))
                    invitee.answer(id, .ok, data: tester.data(for: session.uid).bytes)
                } else {
                    invitee.answer(id, code)
                }
                try trial.expectResult([code], of: session, tester.endpoint.uid)
                trial.pump.wait(.milliseconds(300))
                try trial.require(
                    !invitee.link.waiting.contains { $0.kind == .complete }, "COMPLETE without OK")
                invitee.link.close()
            }
        },
        Case(
            "INV-18", "12.8", level: .invite, "who hears BUSY asks again",
            stimulus: "S invites T; T says BUSY twice, then yes",
            expectation: "INVITE again after some 250 and 500 ms, then COMPLETE", rules: ["invite.busy"],
            bugs: [.seen("invite-gives-up-busy", by: "does not dial")]
        ) { trial in
            let session = try trial.session(.init(preference: .required))
            let tester = try trial.tester(beside: session, preference: .required)
            _ = try trial.invite(tester, from: session)
            for _ in 0..<2 {
                let invitee = try Inviting(accepting: tester, within: .seconds(3))
                invitee.answer(try invitee.expectInvite().first(Invitation.Field.id) ?? [], .busy)
                invitee.link.close()
            }
            let invitee = try Inviting(accepting: tester, within: .seconds(3))
            let id = try invitee.expectInvite().first(Invitation.Field.id) ?? []
            invitee.answer(id, .declined)
            try trial.expectResult([.declined], of: session, tester.endpoint.uid)
        },
        Case(
            "INV-19", "12.9", level: .invite, "an ANSWER that is wrong ends the invitation",
            stimulus:
                "ANSWER with another ID, OK without data, DECLINED with data, OK with the data of another peer",
            expectation: "PROTOCOL", rules: ["invite.data", "invite.order"],
            bugs: [
                .seen("invite-any-answer", by: "CLOSE(PROTOCOL)"),
                .seen("invite-data-of-anyone", by: "CLOSE(PROTOCOL)"),
            ],
            seconds: 40
        ) { trial in
            let session = try trial.session(.init(preference: .required))
            for fault in 0..<4 {
                let tester = try trial.tester(beside: session, preference: .required)
                _ = try trial.invite(tester, from: session)
                let invitee = try Inviting(accepting: tester)
                let id = try invitee.expectInvite().first(Invitation.Field.id) ?? []
                var data = tester.data(for: session.uid)
                switch fault {
                case 0: invitee.answer(trial.random.bytes(16), .ok, data: data.bytes)
                case 1: invitee.answer(id, .ok)
                case 2: invitee.answer(id, .declined, data: data.bytes)
                default:
                    data.endpoint.uid = trial.random.bytes(16)
                    invitee.answer(id, .ok, data: data.bytes)
                }
                try invitee.link.expectClose(.protocol)
                try session.expectNo("connecting", of: tester.endpoint.uid, for: .milliseconds(100))
            }
        },
    ]
}
